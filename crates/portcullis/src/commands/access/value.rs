//! Machine-readable answers.

use portcullis_roles::{Condition, Grant, Holder, Matrix, Miss, Permission, Permitted};
use serde_json::{Map, Value, json};

use super::scope::ResolvedScope;

/// Whose people may do something.
pub(in crate::commands) fn who_can(
    resolved: &ResolvedScope<'_>,
    action: Permission,
    parameters: &[(Condition, String)],
    anybody: bool,
    holders: &[Holder],
) -> Value {
    let holders = holders.iter().map(|holder| {
        let mut value = grant(&holder.grant);
        value.insert("asks".to_owned(), json!(holder.asks));
        Value::from(value)
    });
    let mut value = place(resolved, action, parameters);
    value.insert("anonymous".to_owned(), json!(anybody));
    value.insert("holders".to_owned(), holders.collect());
    value.into()
}

/// Which rule has what.
pub(in crate::commands) fn matrix(resolved: &ResolvedScope<'_>, matrix: &Matrix) -> Value {
    json!({
        "tenant": resolved.tenant(),
        "anonymous_read": matrix.anonymous_read,
        "rules": rows(matrix),
    })
}

fn rows(matrix: &Matrix) -> Value {
    let rows = matrix.rows.iter().map(|row| {
        let permissions: Map<String, Value> = row
            .permissions
            .iter()
            .map(|(permission, permitted)| {
                let how = match permitted {
                    Permitted::Always => json!(true),
                    Permitted::When(grants) => {
                        grants.iter().map(|one| Value::from(grant(one))).collect()
                    }
                };
                (permission.name().to_owned(), how)
            })
            .collect();
        json!({
            "rule": row.rule, "asks": row.asks, "roles": row.roles, "permissions": permissions,
        })
    });
    rows.collect()
}

/// What was asked.
pub(in crate::commands) fn place(
    resolved: &ResolvedScope<'_>,
    action: Permission,
    parameters: &[(Condition, String)],
) -> Map<String, Value> {
    let parameters = parameters.iter();
    let parameters: Map<String, Value> = parameters
        .map(|(condition, value)| (condition.name().to_owned(), json!(value)))
        .collect();
    let mut value = Map::new();
    value.insert("action".to_owned(), json!(action.name()));
    value.insert("tenant".to_owned(), json!(resolved.tenant()));
    value.insert("parameters".to_owned(), parameters.into());
    value
}

/// A rule and a role with its conditions.
pub(in crate::commands) fn grant(grant: &Grant) -> Map<String, Value> {
    let conditions = grant.conditions.iter();
    let conditions: Map<String, Value> = conditions
        .map(|(condition, wanted)| (condition.name().to_owned(), wanted.clone()))
        .collect();
    let mut value = Map::new();
    value.insert("rule".to_owned(), json!(grant.rule));
    value.insert("role".to_owned(), json!(grant.role));
    value.insert("conditions".to_owned(), conditions.into());
    value
}

/// The conditions that were not met.
pub(in crate::commands) fn misses(all: &[Miss]) -> Value {
    let one = |miss: &Miss| {
        json!({
            "rule": miss.rule, "role": miss.role, "name": miss.condition.name(),
            "wanted": miss.wanted, "got": miss.got,
        })
    };
    all.iter().map(one).collect()
}
