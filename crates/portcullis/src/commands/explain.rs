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
use super::text::terminal::Terminal;
use super::text::{indent, yaml};
use crate::cli::{Explain, ExplainOutput, Store};
use crate::exit::Exit;
use crate::output;
use crate::source;

/// Finds the decision and tells it.
pub(super) fn run(explain: &Explain) -> Exit {
    let id = explain.id.as_str();
    let found = source::open(&explain.store).and_then(|mut source| source.get(id));
    let line = match found {
        Ok(Some(line)) => line,
        Ok(None) => {
            output::tell(&format!(
                "error: there is no decision {id} here: it may have been made elsewhere, or be older than what is kept"
            ));
            return Exit::Nothing;
        }
        Err(error) => return failed(&error),
    };
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

fn told(line: &str, output: ExplainOutput) -> Result<(String, Door), String> {
    let decision = Decision::from_line(line).map_err(|error| error.to_string())?;
    let told = match output {
        ExplainOutput::Text => text::write(&decision, Terminal::of_output()),
        ExplainOutput::Json => indent::write(line),
        ExplainOutput::Yaml => {
            let value: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
            yaml::write(&value)
        }
        ExplainOutput::Jsonl => format!("{}\n", line.trim_end()),
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
