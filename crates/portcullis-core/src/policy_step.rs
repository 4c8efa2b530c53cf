//! What one policy inside a plug-in did with a request, and its host calls.
//!
//! The engine makes these steps, verdicts and records carry them, and they are read back from records.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{microseconds, vocabulary};

vocabulary! {
    /// What a denial by a policy means.
    #[derive(Default, JsonSchema)]
    pub enum PolicyMode {
        /// A denial denies the request.
        #[default]
        Enforce = "enforce",
        /// A denial becomes a warning.
        Warn = "warn",
        /// A denial is only recorded.
        DryRun = "dry-run",
    }
}

vocabulary! {
    /// What a policy said itself, whatever its mode makes of it.
    pub enum PolicyOutcome {
        /// Yes.
        Allow = "allow",
        /// No.
        Deny = "deny",
        /// No opinion.
        Pass = "pass",
        /// It did not apply, or an earlier policy had decided.
        Skip = "skip",
        /// No opinion, but a remark.
        Warn = "warn",
        /// It could not decide: it failed, or hit a limit.
        Error = "error",
    }
}

vocabulary! {
    /// A limit that a policy hit.
    pub enum PolicyLimit {
        /// The time ran out.
        Deadline = "deadline",
        /// The memory ran out.
        Memory = "memory",
        /// Calls were nested too deep.
        Stack = "stack",
    }
}

vocabulary! {
    /// A host function, by the name policies call it.
    pub enum HostFunction {
        /// `cosignVerify(keyPath)`.
        CosignVerify = "cosignVerify",
        /// `slsaVerify({SourceURI, BuilderID, ProvenancePath})`.
        SlsaVerify = "slsaVerify",
        /// `slsaEnsureComingFrom(repositories)`.
        SlsaEnsureComingFrom = "slsaEnsureComingFrom",
        /// `forwardToAdmissionController(url, {current}?)`.
        ForwardToAdmissionController = "forwardToAdmissionController",
        /// `$harness(...)`: how tests of policies talk with what runs them. Policies never find it.
        Harness = "$harness",
    }
}

impl HostFunction {
    /// All that policies find.
    pub const FOR_POLICIES: [Self; 4] = [
        Self::CosignVerify,
        Self::SlsaVerify,
        Self::SlsaEnsureComingFrom,
        Self::ForwardToAdmissionController,
    ];
}

/// What one policy did. A record may have words of another version in place of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyStep<M = PolicyMode, O = PolicyOutcome, L = PolicyLimit> {
    /// Its name.
    pub name: String,
    /// Its mode.
    pub mode: M,
    /// What it said itself.
    pub outcome: O,
    /// Why, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The text that the line is in, where it is not the policy's own: a module, or `globals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where in that text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where in that line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The limit it hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<L>,
    /// When it was asked, where it ran.
    #[serde(skip)]
    pub started: Option<Instant>,
    /// How long it took, where it ran.
    #[serde(
        rename = "duration_us",
        default,
        skip_serializing_if = "Option::is_none",
        with = "microseconds::some"
    )]
    pub duration: Option<Duration>,
}

impl PolicyStep {
    /// A policy that was not asked.
    pub fn skipped(name: impl Into<String>, mode: PolicyMode) -> Self {
        Self {
            name: name.into(),
            mode,
            outcome: PolicyOutcome::Skip,
            message: None,
            source: None,
            line: None,
            column: None,
            limit: None,
            started: None,
            duration: None,
        }
    }
}

/// A host call of a policy. A record may have a function of another version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCallStep<F = HostFunction> {
    /// Name of the policy.
    pub policy: String,
    /// The function.
    pub function: F,
    /// With what it was called.
    #[serde(default)]
    pub arguments: Vec<Value>,
    /// The answer. One of `null` is nothing when it is read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was asked.
    #[serde(skip)]
    pub started: Option<Instant>,
    /// How long it took.
    #[serde(rename = "duration_us", default, with = "microseconds")]
    pub duration: Duration,
}
