//! The results as a table.

use std::fmt::Write;

use portcullis_core::{PolicyOutcome, PolicyStep, patch};
use portcullis_gate::offline::Blueprint;

use super::outcome::{Failure, State, TestResult, Tested};
use super::{CoverageDetail, coverage};
use crate::commands::text::diff;
use crate::commands::text::plain::{self, printable};
use crate::commands::text::terminal::{Terminal, Tone};
use crate::commands::text::wrap::hanging;

/// All results, one block for each file.
pub(super) fn write(tested: &Tested, detail: Option<CoverageDetail>, terminal: Terminal) -> String {
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
    if let (Some(counted), Some(detail)) = (&tested.coverage, detail) {
        let with_lines = detail == CoverageDetail::Lines;
        let _ = write!(text, "\n{}", coverage::table(counted, with_lines));
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
    let rest = hanging(&format!("         {name}{place}"), 0, terminal.width);
    let _ = writeln!(text, "  {word}  {}", rest.trim_start());
    for failure in &result.failures {
        explain(text, &result.file, failure, terminal);
    }
    if !result.failures.is_empty() {
        let steps = result.steps.iter();
        steps.for_each(|step| policy(text, blueprint, step, terminal));
    }
}

fn explain(text: &mut String, file: &str, failure: &Failure, terminal: Terminal) {
    let place = failure.line.map_or(String::new(), |line| {
        format!("{}:{line}: ", printable(file))
    });
    let mut put = |line: &str| {
        let _ = writeln!(text, "{}", hanging(line, 2, terminal.width));
    };
    put(&format!("         {place}{}", printable(&failure.title)));
    if let Some(line) = &failure.source_line {
        put(&format!("           > {}", printable(line)));
    }
    if let Some((expected, got)) = &failure.values
        && (expected.is_object() || expected.is_array())
    {
        put("           from expected to actual:");
        for line in diff::lines(expected, &patch::diff(expected, got)) {
            put(&format!("             {}", printable(&line)));
        }
    }
}

/// What a policy did, for a test that failed.
fn policy(text: &mut String, blueprint: Option<&Blueprint>, step: &PolicyStep, terminal: Terminal) {
    let word = step.outcome.as_str();
    let why = printable(step.message.as_deref().unwrap_or_default());
    let line = format!("         {word:<5}  {}  {why}", printable(&step.name));
    let _ = writeln!(text, "{}", hanging(line.trim_end(), 7, terminal.width));
    let source = blueprint.and_then(|blueprint| blueprint.text_of(step));
    let is_framed = matches!(step.outcome, PolicyOutcome::Deny | PolicyOutcome::Error);
    if let Some(source) = source.filter(|_| is_framed) {
        let frame = plain::frame(source, step.line, step.column);
        for line in frame.iter().flat_map(|frame| frame.lines()) {
            let _ = writeln!(text, "                {line}");
        }
    }
}
