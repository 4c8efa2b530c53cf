//! What comes out of an evaluation.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::host::HostCall;
use crate::limits::Limit;
use crate::replay::Unknown;

/// What a policy's refusal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Mode {
    /// A refusal is a refusal.
    #[default]
    Enforce,
    /// A refusal is a warning.
    Warn,
    /// A refusal is a record only.
    DryRun,
}

/// What one policy concluded. What follows from it depends on its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It said yes.
    Allow,
    /// It said no.
    Deny,
    /// It had no opinion.
    Pass,
    /// It did not apply, or an earlier policy had decided.
    Skip,
    /// It had no opinion, but something to say.
    Warn,
    /// It failed, or hit a limit.
    Error,
}

/// What one policy did.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Name of the policy.
    pub name: String,
    /// Its mode.
    pub mode: Mode,
    /// What it concluded.
    pub outcome: Outcome,
    /// Why, where there is more to say.
    pub message: Option<String>,
    /// Name of the text the line is in, where that is not the policy's own: a module, or `globals`.
    pub source: Option<String>,
    /// Line in that text, or else in the policy's own, from 1, where known.
    pub line: Option<u32>,
    /// Column in that line, from 1, where known.
    pub column: Option<u32>,
    /// The limit it hit.
    pub limit: Option<Limit>,
    /// When it was asked, where it ran.
    pub started: Option<Instant>,
    /// How long it took, where it ran.
    pub duration: Option<Duration>,
    /// Whether it changed the object; told in a replay only.
    pub changed: bool,
}

/// Why a request may not go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Denial {
    /// The policy that refused; none if none was reached.
    pub policy: Option<String>,
    /// `NAME: text`, as acjs has it.
    pub message: String,
    /// One machine-readable word: `VIOLATES_POLICY`, `INTERNAL_ERROR`, or the policy's own.
    pub reason: String,
    /// The status the policy asked for.
    pub code: Option<u16>,
    /// The limit that was hit, if that is why.
    pub limit: Option<Limit>,
    /// Whether the policy failed to decide, rather than decided.
    pub failure: bool,
}

/// What all policies together say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// One said yes.
    Allow,
    /// One said no.
    Deny(Denial),
    /// None had an opinion: the default action is the caller's.
    None,
}

/// One line a policy wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleLine {
    /// Name of the policy.
    pub policy: String,
    /// Line in its own text, where known.
    pub line: Option<u32>,
    /// `log`, `info`, `warn`, `error` or `debug`.
    pub level: &'static str,
    /// What it wrote.
    pub text: String,
}

impl ConsoleLine {
    /// A level of the console by its name; `log` for every other name.
    pub(crate) fn level(name: &str) -> &'static str {
        match name {
            "info" => "info",
            "warn" => "warn",
            "error" => "error",
            "debug" => "debug",
            _ => "log",
        }
    }
}

/// The result of one evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// What all policies together say.
    pub verdict: Verdict,
    /// What every policy did, in order.
    pub steps: Vec<Step>,
    /// Remarks for the person who asked.
    pub warnings: Vec<String>,
    /// What policies wrote.
    pub console: Vec<ConsoleLine>,
    /// What policies asked of the world outside, in order.
    pub host_calls: Vec<HostCall>,
    /// The `$cover` marks that were passed, in order, each once.
    pub covered: Vec<u32>,
    /// The object, if it changed and the verdict is no refusal.
    pub object: Option<Value>,
    /// What policies looked at that the record of a replay doesn't have. If there is anything, the
    /// rest may not be what it was then.
    pub unknown: Vec<Unknown>,
}

impl Evaluation {
    /// The refusal, if it is one.
    pub fn denial(&self) -> Option<&Denial> {
        match &self.verdict {
            Verdict::Deny(denial) => Some(denial),
            _ => None,
        }
    }
}
