//! `portcullis explain`: says why something was decided as it was.
//!
//! The verdict comes first, then who decided, what else ran, what nearly happened, and of what it
//! was all made.

mod action;
mod asked;
mod calls;
mod changes;
mod inputs;
mod near;
mod subject;
mod text;
mod verdict;

#[cfg(test)]
pub(super) mod sample;

use portcullis_core::Door;
use portcullis_record::Decision;
use serde_json::Value;

use super::decisions::failed;
use super::text::plain::printable;
use super::text::terminal::Terminal;
use super::text::{indent, json, yaml};
use crate::cli::{DECISION_ID, Explain, ExplainOutput, Filter, Store};
use crate::exit::Exit;
use crate::output;
use crate::source::{self, DecisionSource, SourceError};

/// Finds the decision and tells it.
pub(super) fn run(explain: &Explain) -> Exit {
    let found = source::open(&explain.store).and_then(|mut source| {
        let id = whole_id(source.as_mut(), &explain.id)?;
        let line = source.get(&id)?;
        Ok((id, line))
    });
    let (id, line) = match found {
        Ok((id, Some(line))) => (id, line),
        Ok((id, None)) => return failed(&unknown(&id)),
        Err(error) => return failed(&error),
    };
    let id = id.as_str();
    let door = match told(&line, explain.output) {
        Ok((told, door)) => {
            output::data(&told);
            door
        }
        Err(error) => {
            output::tell(&format!("error: the record of {id} can't be read: {error}"));
            return Exit::Failed;
        }
    };
    if explain.output == ExplainOutput::Text {
        output::tell(&hints(id, door, &explain.store));
    }
    Exit::Yes
}

/// How many decisions are named where it isn't clear which is meant.
const NAMED: usize = 10;

/// The id that is meant, where only its beginning is given.
fn whole_id(source: &mut dyn DecisionSource, given: &str) -> Result<String, SourceError> {
    if given.len() >= DECISION_ID {
        return Ok(given.to_owned());
    }
    // Lists have the newest first: those that begin so come right after this.
    let after = format!("{given:Z<DECISION_ID$}");
    let listed = source.list(&Filter::default(), Some(&after), NAMED + 1)?;
    let ids = listed.items.into_iter().map(|item| item.id);
    let mut fitting: Vec<String> = ids.take_while(|id| id.starts_with(given)).collect();
    match fitting.len() {
        0 => Err(unknown(given)),
        1 => Ok(fitting.swap_remove(0)),
        _ => {
            let more = fitting.len() > NAMED;
            fitting.truncate(NAMED);
            let mut text = format!("several decisions begin with {given}:");
            for id in fitting {
                text.push_str(&format!("\n  {}", printable(&id)));
            }
            if more {
                text.push_str("\n  ...");
            }
            Err(SourceError::new(Exit::Usage, text))
        }
    }
}

fn unknown(id: &str) -> SourceError {
    let text = format!(
        "there is no decision {id} here: it may have been made elsewhere, or be older than what is kept"
    );
    SourceError::new(Exit::Nothing, text)
}

fn told(line: &str, output: ExplainOutput) -> Result<(String, Door), String> {
    let decision = Decision::from_line(line).map_err(|error| error.to_string())?;
    let told = match output {
        ExplainOutput::Text => text::write(&decision, Terminal::of_output()),
        ExplainOutput::Json => indent::write(&json::escaped(line)),
        ExplainOutput::Yaml => {
            let value: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
            yaml::write(&value)
        }
        ExplainOutput::Jsonl => format!("{}\n", json::escaped(line.trim_end())),
    };
    Ok((told, decision.summary.door))
}

/// What else can be done with it.
fn hints(id: &str, door: Door, store: &Store) -> String {
    let place = place(store);
    let whole = format!("\nEverything that is kept of it:  portcullis explain {id}{place} -o json");
    if door == Door::Api {
        // Who may call the API is no affair of policies.
        return whole;
    }
    if door == Door::Authorization {
        // Policies don't judge authorization.
        return format!(
            "{whole}\n\
             With another configuration:     portcullis explain {id}{place} -o jsonl | portcullis replay --config FILE --file -"
        );
    }
    format!(
        "{whole}\n\
         Once more with other policies:  portcullis explain {id}{place} -o jsonl | portcullis replay --policies DIR --file -"
    )
}

/// The flags that name where it was read; never the token.
fn place(store: &Store) -> String {
    let dir = store.data_dir.as_ref().map(|dir| dir.display().to_string());
    let all = [
        (" --data-dir ", dir),
        (" --store ", store.store.clone()),
        (" --server ", store.server.clone()),
    ];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:@".contains(c);
    let given = all.into_iter().filter_map(|(flag, value)| {
        // What may hold a password, or would need quotes, is for the reader to fill in.
        let value = value?;
        let is_fine = value.chars().all(is_plain) && !value.contains('@');
        Some(format!("{flag}{}", if is_fine { &value } else { "…" }))
    });
    given.collect()
}
