//! `portcullis explain`: says why a decision was made.
//!
//! The verdict comes first, then who decided, what else ran, what nearly happened, and the
//! inputs.

mod action;
mod calls;
mod changes;
mod considered;
mod inputs;
mod near_misses;
mod subject;
mod text;
mod verdict;

#[cfg(test)]
pub(super) mod sample;

use clap::{Args, ValueEnum};
use portcullis_core::Door;
use portcullis_gate::offline::case_text;
use portcullis_record::Decision;
use serde_json::Value;

use super::decisions::failed;
use super::text::plain::printable;
use super::text::terminal::Terminal;
use super::text::{error, indent, json, yaml};
use crate::arguments::{Filter, Store};
use crate::exit::Exit;
use crate::output;
use crate::source::{self, DecisionSource, SourceError};

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The decision, or the beginning of its id (6 characters or more). It is in the answer, in the audit
    /// annotation `decision-id`, and in lists.
    #[arg(value_name = "DECISION-ID", value_parser = decision_id, conflicts_with_all = ["last", "Filter"])]
    id: Option<String>,
    /// The newest decision, or the newest one that matches the filters.
    #[arg(long)]
    last: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = ExplainOutput::Table)]
    output: ExplainOutput,
    /// Print a test case for `portcullis test` instead, which expects this decision.
    #[arg(long, conflicts_with = "output")]
    as_test: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    store: Store,
}

/// How a decision is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExplainOutput {
    /// Human-readable.
    #[value(alias = "text")]
    Table,
    /// The full record, as JSON.
    Json,
    /// YAML.
    Yaml,
    /// JSON on one line, as `replay --file` reads it.
    Jsonl,
}

/// Characters of a whole id.
const DECISION_ID: usize = 26;

/// The shortest beginning that is looked for.
const SHORTEST: usize = 6;

/// A ULID: 26 characters of Crockford's alphabet, in either case, that come to 128 bits; or how it begins.
fn decision_id(text: &str) -> Result<String, String> {
    let id = text.trim().to_ascii_uppercase();
    let is_digit = |b: u8| b.is_ascii_digit() || b.is_ascii_uppercase() && !b"ILOU".contains(&b);
    let is_id = (SHORTEST..=DECISION_ID).contains(&id.len())
        && id.bytes().all(is_digit)
        && id.starts_with(|c| c <= '7');
    match is_id {
        true => Ok(id),
        false => Err(
            "a decision's id has 26 letters and digits, like 01JD8QZ1V3M5T7X9Y2B4C6D8F0; its first 6 or more are enough".to_owned(),
        ),
    }
}

/// Finds the decision and explains it.
pub(super) fn run(explain: &Explain) -> Exit {
    if explain.id.is_none() && !explain.last {
        let text = "no decision given: give its id, or --last for the newest one";
        error::usage("explain", text);
        return Exit::Usage;
    }
    let found = source::open(&explain.store).and_then(|mut source| {
        let id = match &explain.id {
            Some(id) => whole_id(source.as_mut(), id)?,
            None => newest(source.as_mut(), &explain.filter)?,
        };
        let line = source.get(&id)?;
        Ok((id, line))
    });
    let (id, line) = match found {
        Ok((id, Some(line))) => (id, line),
        Ok((id, None)) => return failed(&unknown(&id)),
        Err(error) => return failed(&error),
    };
    let id = id.as_str();
    if explain.as_test {
        return print_test(id, &line);
    }
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
    if explain.output == ExplainOutput::Table {
        output::hint(&hints(id, door, &explain.store));
    }
    Exit::Yes
}

/// Prints the decision as a test case.
fn print_test(id: &str, line: &str) -> Exit {
    let decision = Decision::from_line(line).map_err(|error| error.to_string());
    let text = decision.and_then(|one| case_text(&one).map_err(|why| why.to_string()));
    match text {
        Ok(text) => {
            output::data(&text);
            Exit::Yes
        }
        Err(why) => {
            output::tell(&format!("error: {id} can't be written as a test: {why}"));
            Exit::Failed
        }
    }
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

/// The id of the newest decision that matches.
fn newest(source: &mut dyn DecisionSource, filter: &Filter) -> Result<String, SourceError> {
    let mut after: Option<String> = None;
    loop {
        let mut listed = source.list(filter, after.as_deref(), 1)?;
        if !listed.items.is_empty() {
            return Ok(listed.items.swap_remove(0).id);
        }
        // A part of a list may be empty and yet not the last one.
        after = listed.next;
        if after.is_none() {
            return Err(SourceError::new(Exit::Nothing, "no decisions found"));
        }
    }
}

fn unknown(id: &str) -> SourceError {
    let text = format!(
        "decision {id} not found: it may have been made elsewhere, or be older than the retention"
    );
    SourceError::new(Exit::Nothing, text)
}

fn told(line: &str, output: ExplainOutput) -> Result<(String, Door), String> {
    let decision = Decision::from_line(line).map_err(|error| error.to_string())?;
    let told = match output {
        ExplainOutput::Table => text::write(&decision, Terminal::of_output()),
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
    let place = store.flags();
    let whole = format!("\nFull record:               portcullis explain {id}{place} -o json");
    if door == Door::Api {
        // Policies don't decide who may call the API.
        return whole;
    }
    if door == Door::Authorization {
        // Policies don't judge authorization.
        return format!(
            "{whole}\n\
             Replay with new config:    portcullis explain {id}{place} -o jsonl | portcullis replay --config FILE --file -"
        );
    }
    format!(
        "{whole}\n\
         Replay with new policies:  portcullis explain {id}{place} -o jsonl | portcullis replay --policies DIR --file -"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_either_case() {
        let id = "01JD8QZ1V3M5T7X9Y2B4C6D8F0";
        assert_eq!(decision_id(id).as_deref(), Ok(id));
        assert_eq!(decision_id(&id.to_lowercase()).as_deref(), Ok(id));
        assert!(decision_id("7ZZZZZZZZZZZZZZZZZZZZZZZZZ").is_ok());
        assert_eq!(decision_id("01jd8q").as_deref(), Ok("01JD8Q"));
        for wrong in [
            "",
            "01JD8",
            "01JD8QZ1V3M5T7X9Y2B4C6D8F00",
            "01JD8QZ1V3M5T7X9Y2B4C6D8FU",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "01JD8Q…K4",
            "../../../../../etc/passwd0",
        ] {
            assert!(decision_id(wrong).is_err(), "{wrong}");
        }
    }
}
