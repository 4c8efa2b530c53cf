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
    /// A host function, by the name policies call it; and what plug-ins ask of other servers.
    pub enum HostFunction {
        /// `cosignVerify(keyPath)`.
        CosignVerify = "cosignVerify",
        /// `slsaVerify({SourceURI, BuilderID, ProvenancePath})`.
        SlsaVerify = "slsaVerify",
        /// `slsaEnsureComingFrom(repositories)`.
        SlsaEnsureComingFrom = "slsaEnsureComingFrom",
        /// `forwardToAdmissionController(url, {current}?)`.
        ForwardToAdmissionController = "forwardToAdmissionController",
        /// `kube.get(apiVersion, kind, namespace?, name)`.
        KubeGet = "kube.get",
        /// `kube.list(apiVersion, kind, {namespace, labelSelector, limit}?)`.
        KubeList = "kube.list",
        /// An AdmissionReview that the plug-in `Webhook` sends. Policies never find it.
        Webhook = "webhook",
        /// An ImageReview that the plug-in `ImagePolicyWebhook` sends. Policies never find it.
        ImageReview = "imageReview",
        /// `$harness(...)`: how tests of policies talk with what runs them. Policies never find it.
        Harness = "$harness",
    }
}

impl HostFunction {
    /// All that policies find.
    pub const FOR_POLICIES: [Self; 6] = [
        Self::CosignVerify,
        Self::SlsaVerify,
        Self::SlsaEnsureComingFrom,
        Self::ForwardToAdmissionController,
        Self::KubeGet,
        Self::KubeList,
    ];

    /// Whether its answer may depend on the object of the request, which is not among its arguments.
    pub fn looks_at_object(self) -> bool {
        !matches!(self, Self::KubeGet | Self::KubeList)
    }
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
    /// Whether it changed the object, where its change was not discarded.
    #[serde(default, skip_serializing_if = "is_false")]
    pub changed: bool,
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
    /// What it is for, in the words of its author; where it denied, failed or warned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it belongs to, in the words of its author; where it denied, failed or warned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// How much a violation matters, in the words of its author; where it denied, failed or warned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// A page that says more, named by its author; where it denied, failed or warned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
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
            changed: false,
            message: None,
            source: None,
            line: None,
            column: None,
            limit: None,
            description: None,
            category: None,
            severity: None,
            link: None,
            started: None,
            duration: None,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
fn is_false(is_so: &bool) -> bool {
    !*is_so
}

/// A host call of a policy, or what a plug-in asked another server. A record may have a function of another version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCallStep<F = HostFunction> {
    /// Name of the policy, or of what a plug-in asked.
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
