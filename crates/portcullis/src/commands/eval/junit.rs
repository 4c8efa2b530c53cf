//! A `JUnit` report: one suite for each plug-in or policy, one case for each object.

use std::fmt::Write;

use super::outcome::{DocumentPosition, Evaluation, JudgeResult, Judgement, Outcome, Unread};
use crate::commands::text::xml::escaped;
use portcullis_core::PolicyOutcome;

/// The suite of manifests that could not be read.
const UNREAD: &str = "manifests";

/// The report as XML.
pub(super) fn write(evaluation: &Evaluation) -> String {
    let mut suites: Vec<Suite> = Vec::new();
    for judge in &evaluation.judges {
        suites.push(Suite::new(&judge.name));
    }
    for outcome in &evaluation.outcomes {
        if let Outcome::Judged(judged) = outcome {
            for part in &judged.parts {
                let known = suites.iter().position(|suite| suite.name == part.name);
                let place = known.unwrap_or_else(|| {
                    suites.push(Suite::new(&part.name));
                    suites.len() - 1
                });
                if let Some(suite) = suites.get_mut(place) {
                    suite.case(judged, part);
                }
            }
        }
    }
    let mut unread = Suite::new(UNREAD);
    for outcome in &evaluation.outcomes {
        if let Outcome::Unread(one) = outcome {
            unread.unread(one);
        }
    }
    if unread.tests > 0 {
        suites.push(unread);
    }
    let total = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"portcullis eval\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        total(|s| s.tests),
        total(|s| s.failures),
        total(|s| s.errors),
        total(|s| s.skipped),
    );
    suites.iter().for_each(|suite| suite.write(&mut text));
    text.push_str("</testsuites>\n");
    text
}

/// A suite under construction.
struct Suite {
    name: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    cases: String,
}

impl Suite {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tests: 0,
            failures: 0,
            errors: 0,
            skipped: 0,
            cases: String::new(),
        }
    }

    fn case(&mut self, judged: &Judgement, part: &JudgeResult) {
        let message = escaped(&part.message);
        let seconds = part.duration.as_secs_f64();
        let inner = match part.said {
            // A denial that does not count is a remark.
            PolicyOutcome::Deny | PolicyOutcome::Error if !part.counts() => {
                format!("<system-out>{}: {message}</system-out>", part.mode.as_str())
            }
            PolicyOutcome::Deny => {
                self.failures += 1;
                format!("<failure type=\"deny\" message=\"{message}\">{message}</failure>")
            }
            PolicyOutcome::Error => {
                self.errors += 1;
                format!("<error type=\"error\" message=\"{message}\">{message}</error>")
            }
            PolicyOutcome::Skip => {
                self.skipped += 1;
                format!("<skipped message=\"{message}\"/>")
            }
            PolicyOutcome::Warn => format!("<system-out>warning: {message}</system-out>"),
            PolicyOutcome::Pass | PolicyOutcome::Allow => String::new(),
        };
        self.push(&judged.title, &judged.spot, seconds, &inner);
    }

    fn unread(&mut self, unread: &Unread) {
        self.errors += 1;
        let message = escaped(&unread.fault.to_string());
        let inner = format!("<error type=\"unreadable\" message=\"{message}\">{message}</error>");
        let name = match unread.is_file {
            true => "file".to_owned(),
            false => format!("document {}", unread.spot.index),
        };
        self.push(&name, &unread.spot, 0.0, &inner);
    }

    fn push(&mut self, name: &str, spot: &DocumentPosition, seconds: f64, inner: &str) {
        self.tests += 1;
        let (name, file, line) = (escaped(name), escaped(&spot.file), spot.line);
        let _ = writeln!(
            self.cases,
            "    <testcase name=\"{name}\" classname=\"{file}\" file=\"{file}\" line=\"{line}\" time=\"{seconds:.6}\">{inner}</testcase>",
        );
    }

    fn write(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>",
            escaped(&self.name),
            self.tests,
            self.failures,
            self.errors,
            self.skipped,
            self.cases,
        );
    }
}
