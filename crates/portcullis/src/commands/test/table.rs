//! The results as a table.

use std::fmt::Write;

use portcullis_core::{PolicyOutcome, PolicyStep, patch};
use portcullis_gate::offline::Blueprint;

use super::coverage;
use super::outcome::{Failure, State, TestResult, Tested};
use crate::commands::text::diff;
use crate::commands::text::plain::{self, printable};
use crate::commands::text::terminal::{Terminal, Tone};

/// All results, one block for each file.
pub(super) fn write(tested: &Tested, with_coverage: bool, terminal: Terminal) -> String {
    let mut text = String::new();
    let mut last: Option<&str> = None;
    for result in &tested.results {
        if last != Some(result.file.as_str()) {
            let gap = if last.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}{}", printable(&result.file));
            last = Some(&result.file);
        }
        one(&mut text, tested.blueprint.as_deref(), result, terminal);
    }
    if let (Some(counted), true) = (&tested.coverage, with_coverage) {
        let _ = write!(text, "\n{}", coverage::table(counted));
    }
    text
}

fn one(text: &mut String, blueprint: Option<&Blueprint>, result: &TestResult, terminal: Terminal) {
    let (word, tone) = match result.state {
        State::Passed => ("pass", Tone::Good),
        State::Failed => ("FAIL", Tone::Bad),
        State::Skipped => ("skip", Tone::Faint),
        State::Error => ("ERROR", Tone::Bad),
    };
    let word = terminal.word(&format!("{word:<5}"), tone);
    let name = printable(&result.name);
    let line = result.line.filter(|_| !result.failures.is_empty());
    let place = line.map_or(String::new(), |line| {
        format!("   {}:{line}", printable(&result.file))
    });
    let _ = writeln!(text, "  {word}  {name}{place}");
    for failure in &result.failures {
        explain(text, &result.file, failure);
    }
    if !result.failures.is_empty() {
        let steps = result.steps.iter();
        steps.for_each(|step| policy(text, blueprint, step));
    }
}

fn explain(text: &mut String, file: &str, failure: &Failure) {
    let place = failure.line.map_or(String::new(), |line| {
        format!("{}:{line}: ", printable(file))
    });
    let _ = writeln!(text, "         {place}{}", printable(&failure.title));
    if let Some(line) = &failure.source_line {
        let _ = writeln!(text, "           > {}", printable(line));
    }
    if let Some((expected, got)) = &failure.values
        && (expected.is_object() || expected.is_array())
    {
        text.push_str("           from expected to actual:\n");
        for line in diff::lines(expected, &patch::diff(expected, got)) {
            let _ = writeln!(text, "             {}", printable(&line));
        }
    }
}

/// What a policy did, for a test that failed.
fn policy(text: &mut String, blueprint: Option<&Blueprint>, step: &PolicyStep) {
    let word = step.outcome.as_str();
    let why = printable(step.message.as_deref().unwrap_or_default());
    let line = format!("         {word:<5}  {}  {why}", printable(&step.name));
    let _ = writeln!(text, "{}", line.trim_end());
    let source = blueprint.and_then(|blueprint| blueprint.text_of(step));
    let is_framed = matches!(step.outcome, PolicyOutcome::Deny | PolicyOutcome::Error);
    if let Some(source) = source.filter(|_| is_framed) {
        let frame = plain::frame(source, step.line, step.column);
        for line in frame.iter().flat_map(|frame| frame.lines()) {
            let _ = writeln!(text, "                {line}");
        }
    }
}
