//! The machine-readable details of a denial, as sent and as the description of the API has it.

use portcullis_roles::Refusal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The permission that was missing, and what the caller has.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ForbiddenDetails {
    /// The required permission.
    permission: String,
    /// The conditions that were not met, of roles that grant it on conditions.
    conditions: Vec<UnmetCondition>,
    /// The roles of the caller.
    roles: Vec<String>,
    /// The rules that the caller matches.
    rules: Vec<String>,
}

/// A condition that was not met.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UnmetCondition {
    /// What the condition is about, like `project`.
    name: String,
    /// The required value, or a list of alternatives.
    wanted: Value,
    /// The value in the request; `null` if absent.
    got: Option<String>,
    /// The rule by which the caller has the role.
    rule: String,
    /// The role that has the condition.
    role: String,
}

impl ForbiddenDetails {
    pub(crate) fn of(refusal: &Refusal) -> Self {
        let conditions = refusal.misses.iter().map(|miss| UnmetCondition {
            name: miss.condition.name().to_owned(),
            wanted: miss.wanted.clone(),
            got: miss.got.clone(),
            rule: miss.rule.clone(),
            role: miss.role.clone(),
        });
        Self {
            permission: refusal.permission.name().to_owned(),
            conditions: conditions.collect(),
            roles: refusal.roles.clone(),
            rules: refusal.rules.clone(),
        }
    }
}
