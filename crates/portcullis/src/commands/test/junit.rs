//! A `JUnit` report: one suite for each file.

use std::fmt::Write;

use super::outcome::{State, TestResult, Tested};
use crate::commands::text::xml::escaped;

/// The report as XML.
pub(super) fn write(tested: &Tested) -> String {
    let mut files: Vec<&str> = tested.results.iter().map(|r| r.file.as_str()).collect();
    files.dedup();
    let all: Vec<&TestResult> = tested.results.iter().collect();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"portcullis test\" {}>\n",
        counts(&all)
    );
    for file in files {
        let own: Vec<&TestResult> = all.iter().copied().filter(|r| r.file == file).collect();
        let (name, counts) = (escaped(file), counts(&own));
        let _ = writeln!(text, "  <testsuite name=\"{name}\" {counts}>");
        own.iter().for_each(|result| case(&mut text, result));
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn counts(results: &[&TestResult]) -> String {
    let count = |state: State| results.iter().filter(|r| r.state == state).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        results.len(),
        count(State::Failed),
        count(State::Error),
        count(State::Skipped),
    )
}

fn case(text: &mut String, result: &TestResult) {
    let messages: Vec<&str> = result.failures.iter().map(|f| f.message.as_str()).collect();
    let message = escaped(&messages.join("\n"));
    let inner = match result.state {
        State::Passed => String::new(),
        State::Failed => format!("<failure message=\"{message}\">{message}</failure>"),
        State::Error => format!("<error message=\"{message}\">{message}</error>"),
        State::Skipped => "<skipped/>".to_owned(),
    };
    let (name, file) = (escaped(&result.name), escaped(&result.file));
    let of_failure = result.failures.first().and_then(|f| f.line).map(u64::from);
    let line = of_failure.or(result.line).unwrap_or(1);
    let seconds = result.duration.as_secs_f64();
    let _ = writeln!(
        text,
        "    <testcase name=\"{name}\" classname=\"{file}\" file=\"{file}\" line=\"{line}\" time=\"{seconds:.6}\">{inner}</testcase>",
    );
}
