//! What every plug-in, policy, authorizer and role did, as read back from a record.
//!
//! `portcullis-core` writes the steps of a chain in this shape.

use std::fmt;
use std::str::FromStr;

use portcullis_core::{
    HostCallStep, HostFunction, OpinionKind, Phase, PolicyLimit, PolicyMode, PolicyOutcome,
    PolicyStep, StepOutcome, UnknownWord,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::recorded::Recorded;

/// What one plug-in or authorizer did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Its name.
    pub plugin: String,
    /// Which half of a plug-in; none for an authorizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Recorded<Phase>>,
    /// How it ended.
    pub outcome: Recorded<TraceOutcome>,
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
    /// The host calls of its policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_calls: Vec<HostCallTrace>,
    /// What it changed, where the decision's own patch doesn't say it: after a denial, or where
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

impl TraceStep {
    /// One that says only who, and how it ended.
    pub fn new(plugin: impl Into<String>, outcome: impl Into<TraceOutcome>) -> Self {
        Self {
            plugin: plugin.into(),
            phase: None,
            outcome: Recorded::Known(outcome.into()),
            detail: None,
            failed_open: false,
            warnings: 0,
            policies: Vec::new(),
            host_calls: Vec::new(),
            patch: Vec::new(),
            roles: None,
            duration_us: 0,
        }
    }

    /// How it ended, where it is a plug-in or failed, and this version knows the word.
    pub fn ended(&self) -> Option<StepOutcome> {
        match self.outcome.known() {
            Some(TraceOutcome::Step(outcome)) => Some(*outcome),
            _ => None,
        }
    }

    /// Whether it ended like this.
    pub fn is(&self, outcome: StepOutcome) -> bool {
        self.ended() == Some(outcome)
    }

    /// Whether it could not decide.
    pub fn is_failure(&self) -> bool {
        self.ended().is_some_and(StepOutcome::is_failure)
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TraceOutcome {
    /// That of a plug-in; of an authorizer only [`StepOutcome::Error`].
    Step(StepOutcome),
    /// The opinion of an authorizer, or of rules and roles.
    Opinion(OpinionKind),
}

impl From<StepOutcome> for TraceOutcome {
    fn from(outcome: StepOutcome) -> Self {
        Self::Step(outcome)
    }
}

impl From<OpinionKind> for TraceOutcome {
    fn from(opinion: OpinionKind) -> Self {
        Self::Opinion(opinion)
    }
}

impl FromStr for TraceOutcome {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        // No word is one of both.
        let opinion = || text.parse().map(Self::Opinion);
        text.parse().map(Self::Step).or_else(|_| opinion())
    }
}

impl fmt::Display for TraceOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(outcome) => outcome.fmt(f),
            Self::Opinion(opinion) => opinion.fmt(f),
        }
    }
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
    /// The expected value: a string or a list of strings.
    pub wanted: Value,
    /// What the call has; none if nothing of the kind.
    #[serde(default)]
    pub got: Option<String>,
}

/// What one policy did, as it is read back.
pub type PolicyTrace =
    PolicyStep<Recorded<PolicyMode>, Recorded<PolicyOutcome>, Recorded<PolicyLimit>>;

/// A host call of a policy, as it is read back.
pub type HostCallTrace = HostCallStep<Recorded<HostFunction>>;

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
