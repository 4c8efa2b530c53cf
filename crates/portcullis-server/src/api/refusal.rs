//! The content of a denial: human-readable and machine-readable, as it is sent and as the API describes it.

use portcullis_roles::Refusal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::http::error::HttpError;

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

/// 403, with what is missing.
pub(super) fn forbidden(refusal: &Refusal) -> HttpError {
    let details = ForbiddenDetails::of(refusal);
    HttpError::forbidden("forbidden", sentence(refusal)).with_details(&details)
}

impl ForbiddenDetails {
    fn of(refusal: &Refusal) -> Self {
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

/// What is missing, human-readable.
pub(super) fn sentence(refusal: &Refusal) -> String {
    sentence_about("your", refusal)
}

/// The same about roles of others: `their`.
pub(super) fn sentence_about(whose: &str, refusal: &Refusal) -> String {
    let permission = refusal.permission;
    let misses = refusal.misses.iter().map(|miss| {
        let got = match &miss.got {
            Some(got) => format!("is `{got}`"),
            None => "is not given".to_owned(),
        };
        format!(
            "{} {got}, but the role `{}` requires {}",
            miss.condition,
            miss.role,
            wanted(&miss.wanted)
        )
    });
    let misses: Vec<String> = misses.collect();
    match misses.as_slice() {
        [] => format!("none of {whose} roles here permits `{permission}`"),
        misses => format!(
            "{whose} roles permit `{permission}` only on conditions: {}",
            misses.join("; ")
        ),
    }
}

fn wanted(value: &Value) -> String {
    match value {
        Value::Array(any) => {
            let any: Vec<String> = any.iter().map(wanted).collect();
            format!("one of {}", any.join(", "))
        }
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}
