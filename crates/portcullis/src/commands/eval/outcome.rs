//! What came out, for every object and everyone who judges.

use portcullis_core::{HostCallStep, Operation, Phase, PolicyMode, Step, Verdict};
use portcullis_server::config::Fault;
use portcullis_server::offline::{Judge, JudgeKind, Manifest, Written};
use serde_json::Value;

use crate::commands::text::plain::counted;

use crate::exit::Exit;

/// Everything that came out.
#[derive(Debug)]
pub(super) struct Evaluation {
    /// Who judges, in order.
    pub(super) judges: Vec<Judge>,
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
    /// One for each who judges.
    pub(super) parts: Vec<Part>,
    /// What policies wrote.
    pub(super) written: Vec<Written>,
    /// What the plug-in that asks policies did.
    pub(super) asked: Option<Step>,
}

/// What one plug-in or policy said.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    /// Whether it is listed for programs.
    pub(super) is_listed: bool,
    pub(super) mode: PolicyMode,
    pub(super) said: Said,
    /// Why, where there is more to say.
    pub(super) message: String,
    /// Where in the author's text it spoke.
    pub(super) place: Option<Place>,
    /// Each half that was asked.
    pub(super) steps: Vec<Step>,
    /// What it asked of the world outside.
    pub(super) host_calls: Vec<HostCallStep>,
}

impl Part {
    /// Whether its refusal is a refusal.
    pub(super) fn counts(&self) -> bool {
        self.mode == PolicyMode::Enforce
    }
}

/// A place in a policy.
#[derive(Debug)]
pub(super) struct Place {
    /// The name of the policy, or the file.
    pub(super) label: String,
    /// The file, if the text is one.
    pub(super) file: Option<String>,
    pub(super) line: u32,
    pub(super) column: Option<u32>,
    /// The line with a caret.
    pub(super) frame: Option<String>,
}

impl Place {
    /// `no-latest:1:5`.
    pub(super) fn written(&self) -> String {
        let column = self.column.map_or(String::new(), |c| format!(":{c}"));
        format!("{}:{}{column}", self.label, self.line)
    }
}

/// An answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Allow,
    Deny,
    Error,
    Warn,
    Pass,
    Skip,
}

impl Said {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
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
        let Summary {
            allowed,
            denied,
            errors,
            skipped,
        } = self.summary();
        let mut line = format!(
            "{}, {}: {allowed} allowed, {denied} denied, {}, {skipped} skipped",
            counted(self.outcomes.len(), "object", "objects"),
            self.counted_judges(),
            counted(errors, "error", "errors"),
        );
        if self.exit() == Exit::Nothing {
            let who = match self.policies() {
                0 => "plug-in",
                _ => "policy or plug-in",
            };
            line.push_str(&format!(
                "\nnothing was judged: no {who} applied to any object"
            ));
        }
        line
    }

    fn policies(&self) -> usize {
        let is_policy = |judge: &&Judge| matches!(judge.kind, JudgeKind::Policy(_));
        self.judges.iter().filter(is_policy).count()
    }

    /// `2 plug-ins, 1 policy`.
    fn counted_judges(&self) -> String {
        let is_plugin = |judge: &&Judge| judge.kind == JudgeKind::Plugin;
        let plugins = self.judges.iter().filter(is_plugin).count();
        let policies = counted(self.policies(), "policy", "policies");
        match (plugins, self.policies()) {
            (plugins, 0) => counted(plugins, "plug-in", "plug-ins"),
            (0, _) => policies,
            (plugins, _) => format!("{}, {policies}", counted(plugins, "plug-in", "plug-ins")),
        }
    }
}

/// The name of a half.
pub(super) fn half(phase: Phase) -> &'static str {
    match phase {
        Phase::Admit => "admit",
        Phase::Validate => "validate",
    }
}
