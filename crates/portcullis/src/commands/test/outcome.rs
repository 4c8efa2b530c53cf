//! The outcome of every test.

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::PolicyStep;
use portcullis_gate::offline::{Answer, Blueprint, ConsoleLine, Coverage, Mismatch};
use serde_json::Value;

use crate::commands::text::plain::counted;
use crate::exit::Exit;

/// Everything that came out.
#[derive(Debug)]
pub(super) struct Tested {
    pub(super) blueprint: Option<Arc<Blueprint>>,
    pub(super) results: Vec<TestResult>,
    /// Which lines ran, if that is counted.
    pub(super) coverage: Option<Coverage>,
}

/// What came out of one test.
#[derive(Debug)]
pub(super) struct TestResult {
    pub(super) file: String,
    pub(super) line: Option<u64>,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) failures: Vec<Failure>,
    /// What the policies did, where it is about one request.
    pub(super) steps: Vec<PolicyStep>,
    pub(super) written: Vec<ConsoleLine>,
    pub(super) duration: Duration,
    /// What came instead, of a case that failed.
    pub(super) actual: Option<Box<Actual>>,
}

/// What came of a case.
#[derive(Debug)]
pub(super) struct Actual {
    /// The place of the case in its file, from 0.
    pub(super) index: usize,
    pub(super) answer: Answer,
    pub(super) mismatches: Vec<Mismatch>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Passed,
    Failed,
    Skipped,
    /// It could not be run.
    Error,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Error => "error",
        }
    }
}

/// One thing that is not as expected.
#[derive(Debug)]
pub(super) struct Failure {
    /// What is wrong, in a few words.
    pub(super) title: String,
    /// The same with all values.
    pub(super) message: String,
    /// Where in the test file, where that is not the line of the test.
    pub(super) line: Option<u32>,
    /// The text of that line.
    pub(super) source_line: Option<String>,
    /// What was expected and what came, where values were compared.
    pub(super) values: Option<(Value, Value)>,
}

impl Tested {
    pub(super) fn count(&self, state: State) -> usize {
        self.results.iter().filter(|r| r.state == state).count()
    }

    /// The tests that did not pass.
    pub(super) fn failed(&self) -> impl Iterator<Item = &TestResult> {
        let is_bad = |r: &&TestResult| matches!(r.state, State::Failed | State::Error);
        self.results.iter().filter(is_bad)
    }

    /// The exit code's meaning, the same whatever is printed.
    pub(super) fn exit(&self) -> Exit {
        if self.count(State::Failed) > 0 {
            Exit::No
        } else if self.count(State::Error) > 0 {
            Exit::Failed
        } else if self.count(State::Passed) == 0 {
            Exit::Nothing
        } else {
            Exit::Yes
        }
    }

    /// The last line a person sees.
    pub(super) fn closing_line(&self) -> String {
        let mut line = format!(
            "{}: {} passed, {} failed, {} skipped",
            counted(self.results.len(), "test", "tests"),
            self.count(State::Passed),
            self.count(State::Failed),
            self.count(State::Skipped),
        );
        let errors = self.count(State::Error);
        if errors > 0 {
            line.push_str(&format!(", {errors} could not be run"));
        }
        if self.exit() == Exit::Nothing {
            line.push_str("\nnothing was tested: every test is skipped");
        }
        line
    }
}
