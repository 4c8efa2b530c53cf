//! `--update`: writes into test files what came instead of what was expected.
//!
//! Only values that a case has and that differ are written; comments and layout stay. A verdict is written only by
//! `--update=verdict`: a test that turned around is what tests are for. What a policy that failed answered is never
//! written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use portcullis_core::patch::{self, PatchOperation};
use portcullis_document::yaml::{self, Dialect};
use portcullis_document::{Document, Faults, Source, path};
use portcullis_gate::offline::{self, Answer, Mismatch};
use regex::Regex;
use serde_json::Value;

use super::outcome::{Actual, TestResult, Tested};
use crate::commands::text::{error, plain, report};
use crate::output;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Update {
    /// Messages, warnings, patches and objects.
    Values,
    /// Also whether it is allowed, and what denies.
    Verdict,
}

/// Writes what differs, and says what it wrote; false if a file can't be written.
pub(super) fn write(tested: &Tested, update: Update) -> bool {
    let mut files: BTreeMap<&str, Vec<(&TestResult, &Actual)>> = BTreeMap::new();
    for result in &tested.results {
        if let Some(actual) = &result.actual {
            files
                .entry(&result.file)
                .or_default()
                .push((result, actual));
        }
    }
    // All are written, also when one of them can't be.
    let written = files
        .into_iter()
        .map(|(file, cases)| of_file(file, &cases, update));
    written.fold(true, |all, one| all & one)
}

fn of_file(file: &str, cases: &[(&TestResult, &Actual)], update: Update) -> bool {
    let source = match offline::read_file(Path::new(file)) {
        Ok(source) => source,
        Err(fault) => {
            error::faults([&*fault]);
            return false;
        }
    };
    let mut text = source.text().to_owned();
    for (result, actual) in cases {
        let name = plain::printable(&result.name);
        match of_case(&text, file, actual, update) {
            Ok((changed, keys)) => {
                output::tell(&format!("updated {file}: {name}: {}", keys.join(", ")));
                text = changed;
            }
            Err(why) => error::warn(&format!("not updated: {file}: {name}: {why}")),
        }
    }
    text == source.text() || report::write_file(Path::new(file), &text)
}

/// The text with what differs in one case, and the keys that are written.
fn of_case(
    text: &str,
    file: &str,
    actual: &Actual,
    update: Update,
) -> Result<(String, Vec<&'static str>), String> {
    let source = Source::text_named(file, text);
    let document = read(&source)?;
    let at = format!("tests[{}].expect", actual.index);
    let (answer, mismatches) = (&actual.answer, &actual.mismatches);
    if answer.undecided {
        return Err("a policy failed, which is not written".to_owned());
    }
    let is_verdict = |one: &Mismatch| matches!(one.what, "allowed" | "policy");
    if mismatches.iter().any(is_verdict) {
        return match update {
            Update::Values => Err("the verdict changed: `--update=verdict` writes it".to_owned()),
            Update::Verdict => {
                let whole = [(at.clone(), whole(&document, &at, actual))];
                Ok((replaced(&document, &whole)?, vec!["expect"]))
            }
        };
    }
    let mut changes = Vec::new();
    let mut keys = Vec::new();
    for mismatch in mismatches {
        // Each warning that is missing is a mismatch.
        if !keys.contains(&mismatch.what) {
            keys.push(mismatch.what);
            changes.extend(changes_of(&document, &at, mismatch, answer));
        }
    }
    Ok((replaced(&document, &changes)?, keys))
}

fn read(source: &Arc<Source>) -> Result<Document, String> {
    yaml::parse_as(source, Dialect::Kubernetes).map_err(|faults: Faults| faults.on_one_line())
}

fn replaced(document: &Document, changes: &[(String, Value)]) -> Result<String, String> {
    let result = yaml::replaced(document, Dialect::Kubernetes, changes);
    result.map_err(|error| format!("{error}: change it by hand"))
}

fn changes_of(
    document: &Document,
    at: &str,
    mismatch: &Mismatch,
    answer: &Answer,
) -> Vec<(String, Value)> {
    let place = path::key(at, mismatch.what);
    match mismatch.what {
        "message" => vec![(place, answer.expected_message().into())],
        "warnings" => vec![(place.clone(), warnings(document, &place, answer))],
        "patch" => vec![(place, answer.patch.clone())],
        _ => {
            parts(document, &place, mismatch).unwrap_or_else(|| vec![(place, mismatch.got.clone())])
        }
    }
}

/// All that is expected. Patterns that match what came stay as they are: their author left something open.
fn whole(document: &Document, at: &str, actual: &Actual) -> Value {
    let mut expected = actual.answer.expectation();
    let differs = |what: &str| actual.mismatches.iter().any(|one| one.what == what);
    let message = document.root.at_path(&path::key(at, "message"));
    if let (Some(written), false) = (message, differs("message"))
        && let Some(message) = expected.get_mut("message")
    {
        *message = written.to_json();
    }
    if let Some(all) = expected.get_mut("warnings") {
        *all = warnings(document, &path::key(at, "warnings"), &actual.answer);
    }
    expected
}

/// The warnings that are expected: the patterns that match one, and what matches just those that no pattern matches.
fn warnings(document: &Document, at: &str, answer: &Answer) -> Value {
    let written = document.root.at_path(at).map(|node| node.to_json());
    let written = written.as_ref().and_then(Value::as_array);
    let patterns = written.into_iter().flatten().filter_map(Value::as_str);
    let read = patterns.filter_map(|text| Regex::new(text).ok());
    let matches = |pattern: &Regex| answer.warnings.iter().any(|text| pattern.is_match(text));
    let kept: Vec<Regex> = read.filter(matches).collect();
    let exact = answer.expected_warnings();
    let exact = exact.as_array().into_iter().flatten().zip(&answer.warnings);
    let others = exact.filter(|(_, text)| !kept.iter().any(|pattern| pattern.is_match(text)));
    let kept_texts = kept.iter().map(|pattern| Value::from(pattern.as_str()));
    kept_texts
        .chain(others.map(|(pattern, _)| pattern.clone()))
        .collect()
}

/// The parts of an object that differ, if all of them are written in the file.
fn parts(document: &Document, at: &str, mismatch: &Mismatch) -> Option<Vec<(String, Value)>> {
    let steps = patch::diff(&mismatch.expected, &mismatch.got).into_iter();
    let each = steps.map(|step| match step {
        PatchOperation::Replace { path, value } => {
            let place = place(document, at, &path)?;
            Some((place, value))
        }
        _ => None,
    });
    each.collect()
}

/// The path of a JSON pointer below a path.
fn place(document: &Document, at: &str, pointer: &str) -> Option<String> {
    let mut written = at.to_owned();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let node = document.root.at_path(&written)?;
        written = match (&node.value, step.parse::<usize>()) {
            (portcullis_document::Value::Seq(_), Ok(index)) => path::index(&written, index),
            _ => path::key(&written, &step),
        };
    }
    document.root.at_path(&written).is_some().then_some(written)
}
