//! What came out, for every object and every plug-in.

use portcullis_core::{Operation, Phase, Step, Verdict};
use portcullis_server::config::Fault;
use portcullis_server::offline::Manifest;
use serde_json::Value;

use crate::exit::Exit;

/// Everything that came out.
#[derive(Debug)]
pub(super) struct Evaluation {
    /// Names of the plug-ins, in order.
    pub(super) plugins: Vec<String>,
    pub(super) operation: Operation,
    pub(super) user: String,
    pub(super) outcomes: Vec<Outcome>,
}

/// What came out for one object.
#[derive(Debug)]
pub(super) enum Outcome {
    Judged(Box<Judgement>),
    Unread(Box<Unread>),
}

/// An object that could not be read.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) file: String,
    pub(super) index: usize,
    pub(super) line: u64,
    pub(super) fault: Box<Fault>,
}

/// An object that was judged.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) file: String,
    pub(super) index: usize,
    pub(super) line: u64,
    pub(super) manifest: Manifest,
    pub(super) verdict: Verdict,
    /// The object after patching; as it was after a refusal; none when it is deleted.
    pub(super) object: Option<Value>,
    /// The object before patching.
    pub(super) original: Option<Value>,
    pub(super) parts: Vec<Part>,
}

/// What one plug-in said.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) said: Said,
    /// Why, where there is more to say.
    pub(super) message: String,
    /// Each half that was asked.
    pub(super) steps: Vec<Step>,
}

/// A plug-in's answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Deny,
    Error,
    Warn,
    Pass,
    Skip,
}

impl Said {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Pass => "pass",
            Self::Skip => "skip",
        }
    }
}

/// How many objects ended how; each counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) allowed: usize,
    pub(super) denied: usize,
    pub(super) errors: usize,
    pub(super) skipped: usize,
}

impl Evaluation {
    pub(super) fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for outcome in &self.outcomes {
            let verdict = match outcome {
                Outcome::Judged(result) => &result.verdict,
                Outcome::Unread(_) => {
                    summary.errors += 1;
                    continue;
                }
            };
            let count = match verdict {
                v if v.is_undecided() => &mut summary.errors,
                v if !v.is_allowed() => &mut summary.denied,
                v if !v.anything_applied() => &mut summary.skipped,
                _ => &mut summary.allowed,
            };
            *count += 1;
        }
        summary
    }

    /// The exit code's meaning, the same whatever is printed.
    pub(super) fn exit(&self) -> Exit {
        let is_unread = |o: &Outcome| matches!(o, Outcome::Unread(_));
        let summary = self.summary();
        if self.outcomes.iter().any(is_unread) {
            Exit::Invalid
        } else if summary.denied > 0 {
            Exit::No
        } else if summary.errors > 0 {
            Exit::Failed
        } else if summary.allowed > 0 {
            Exit::Yes
        } else {
            Exit::Nothing
        }
    }

    /// The last line a person sees.
    pub(super) fn closing_line(&self) -> String {
        let counted = |count: usize, what: &str| {
            let s = if count == 1 { "" } else { "s" };
            format!("{count} {what}{s}")
        };
        let Summary {
            allowed,
            denied,
            errors,
            skipped,
        } = self.summary();
        let mut line = format!(
            "{}, {}: {allowed} allowed, {denied} denied, {}, {skipped} skipped",
            counted(self.outcomes.len(), "object"),
            counted(self.plugins.len(), "plug-in"),
            counted(errors, "error"),
        );
        if self.exit() == Exit::Nothing {
            line.push_str("\nnothing was judged: no plug-in applied to any object");
        }
        line
    }
}

/// The name of a half.
pub(super) fn half(phase: Phase) -> &'static str {
    match phase {
        Phase::Admit => "admit",
        Phase::Validate => "validate",
    }
}
