//! The outcome of an evaluation.

use portcullis_core::{Denial, HostCallStep, PolicyLimit, PolicyStep};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::replay::Unknown;

/// The denial that decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyDenial {
    /// The policy that denied; none if none was reached.
    pub policy: Option<String>,
    /// What it says: the message is `NAME: text`, the reason `VIOLATES_POLICY`, `INTERNAL_ERROR` or the policy's
    /// own, as acjs has it.
    pub denial: Denial,
    /// The limit that was hit, if that is why.
    pub limit: Option<PolicyLimit>,
    /// Whether the policy failed to decide, rather than decided.
    pub failure: bool,
}

/// What all policies together say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PolicyVerdict {
    /// One said yes.
    Allow,
    /// One said no.
    Deny(PolicyDenial),
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
    pub verdict: PolicyVerdict,
    /// What every policy did, in order.
    pub steps: Vec<PolicyStep>,
    /// Remarks for the person who asked.
    pub warnings: Vec<String>,
    /// What policies wrote.
    pub console: Vec<ConsoleLine>,
    /// Host calls of policies, in order.
    pub host_calls: Vec<HostCallStep>,
    /// The policies that changed the object; said in a replay only.
    pub changed_by: Vec<String>,
    /// The `$cover` marks that were passed, in order, each once.
    pub covered: Vec<u32>,
    /// The object, if it changed and the verdict is not a denial.
    pub object: Option<Value>,
    /// What policies looked at that the record of a replay doesn't have. If there is anything, the
    /// rest may not be what it was then.
    pub unknown: Vec<Unknown>,
}

impl Evaluation {
    /// The denial, if it is one.
    pub fn denial(&self) -> Option<&PolicyDenial> {
        match &self.verdict {
            PolicyVerdict::Deny(denial) => Some(denial),
            _ => None,
        }
    }
}
