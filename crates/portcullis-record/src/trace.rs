//! What every plug-in, policy, authorizer and role did, as it is read back from a record.
//!
//! `portcullis-core` writes the steps of a chain in this shape.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one plug-in or authorizer did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Its name.
    pub plugin: String,
    /// `admit` or `validate`; none for an authorizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// How it ended: `skipped`, `passed`, `changed`, `denied`, `error`, `timeout`, `panic`; of an
    /// authorizer `allow`, `deny`, `no_opinion`, `error`.
    pub outcome: String,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whether it, or a policy of it, could not decide and was passed over.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed_open: bool,
    /// How many of the decision's warnings are its own; they stand in the order of the steps.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warnings: usize,
    /// What its policies did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PolicyTrace>,
    /// What its policies asked of the world outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_calls: Vec<HostCallTrace>,
    /// What it changed, where the decision's own patch doesn't say it: after a refusal, or where
    /// several changed the object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<Value>,
    /// What was made of the caller's rules and roles, for the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<RolesTrace>,
    /// How long it took.
    #[serde(default)]
    pub duration_us: u64,
}

/// What was made of the caller's rules and roles.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RolesTrace {
    /// The rule that gave the role that permitted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// That role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Conditions that failed, where the caller has a role that permits it only on these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<Miss>,
    /// The rules that match the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The roles that the caller has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

/// A condition that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Miss {
    /// The rule that gave the role.
    #[serde(default)]
    pub rule: String,
    /// The role that has the condition.
    #[serde(default)]
    pub role: String,
    /// What it is about, like `project`.
    pub name: String,
    /// What is wanted: a text or a list of texts.
    pub wanted: Value,
    /// What the call has; none if nothing of the kind.
    #[serde(default)]
    pub got: Option<String>,
}

/// What one policy did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyTrace {
    /// Its name.
    pub name: String,
    /// `enforce`, `warn` or `dry-run`.
    pub mode: String,
    /// What it said itself: `allow`, `deny`, `pass`, `skip`, `warn`, `error`.
    pub outcome: String,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The text that the line is in, where it is not the policy's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where in that text, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where in that line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The limit it hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// How long it took, where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
}

/// What a policy asked of the world outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCallTrace {
    /// Name of the policy.
    pub policy: String,
    /// The function.
    pub function: String,
    /// With what it was called.
    #[serde(default)]
    pub arguments: Vec<Value>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took.
    #[serde(default)]
    pub duration_us: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
fn is_false(is_so: &bool) -> bool {
    !*is_so
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
