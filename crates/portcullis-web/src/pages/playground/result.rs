//! The result: the verdict with its sentence first, then all that is known of the evaluation.

use serde::Deserialize;
use serde_json::Value;

use super::listing::{CodeLine, code_lines, ranges};
use crate::diff::{Change, Operation, changes};
use crate::shown::pretty;

/// What the API says.
#[derive(Debug, Deserialize)]
pub(super) struct Verdict {
    allowed: bool,
    outcome: String,
    message: String,
    line: Option<u32>,
    limit: Option<String>,
    warnings: Vec<String>,
    patch: Vec<Operation>,
    object: Value,
    console: Vec<Line>,
    coverage: Coverage,
    duration_us: u64,
    faults: Vec<Fault>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) level: String,
    pub(super) line: Option<u32>,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
struct Coverage {
    covered: Vec<u32>,
    missed: Vec<u32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Fault {
    pub(super) field: String,
    pub(super) message: String,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
}

/// The verdict as it is shown.
#[derive(Debug)]
pub(super) struct Outcome {
    /// What `verdict.html` shows.
    pub(super) verdict: &'static str,
    pub(super) mutated: bool,
    pub(super) is_invalid: bool,
    pub(super) sentence: String,
    pub(super) outcome: String,
    pub(super) line: Option<u32>,
    pub(super) limit: Option<String>,
    pub(super) warnings: Vec<String>,
    pub(super) changes: Vec<Change>,
    pub(super) object: String,
    pub(super) console: Vec<Line>,
    pub(super) duration_us: u64,
    pub(super) faults: Vec<Fault>,
    pub(super) covered: String,
    pub(super) missed: String,
    text: String,
    coverage: Coverage,
}

impl Outcome {
    /// The verdict of a policy with this text.
    pub(super) fn of(verdict: Verdict, text: &str) -> Self {
        // The words of the author stay as they are.
        let said = match (verdict.message.as_str(), verdict.outcome.as_str()) {
            ("", "pass") => "The policy has no opinion.",
            ("", "skip") => "The policy does not apply to this object.",
            ("", "allow") => "The policy allows it.",
            ("", "deny") => "The policy denies it.",
            (message, _) => message,
        };
        Self {
            verdict: if verdict.allowed { "allow" } else { "deny" },
            mutated: !verdict.patch.is_empty(),
            is_invalid: !verdict.faults.is_empty(),
            sentence: said.to_owned(),
            outcome: verdict.outcome,
            line: verdict.line,
            limit: verdict.limit,
            warnings: verdict.warnings,
            changes: changes(verdict.patch),
            object: match &verdict.object {
                Value::Null => String::new(),
                object => pretty(object),
            },
            console: verdict.console,
            duration_us: verdict.duration_us,
            faults: verdict.faults,
            covered: ranges(&verdict.coverage.covered),
            missed: ranges(&verdict.coverage.missed),
            coverage: verdict.coverage,
            text: text.to_owned(),
        }
    }

    /// The text of the policy with which of its lines ran.
    pub(super) fn lines(&self) -> Vec<CodeLine<'_>> {
        code_lines(&self.text, &self.coverage.covered, &self.coverage.missed)
    }

    /// Whether the policy ran.
    pub(super) fn has_run(&self) -> bool {
        !self.is_invalid
            && [&self.covered, &self.missed]
                .iter()
                .any(|all| !all.is_empty())
    }
}
