//! Answers for programs.

use portcullis_roles::{
    Answer, Basis, Condition, Explanation, Grant, Holder, Matrix, Miss, Permission, Permitted,
};
use serde_json::{Map, Value, json};

use super::caller::Caller;
use super::place::Spot;
use crate::commands::can_i::CanIAction;

/// The answer; with `--explain` everything that was considered.
pub(in crate::commands) fn can_i(
    spot: &Spot<'_>,
    asked: &CanIAction,
    caller: &Caller,
    explanation: &Explanation,
    message: &str,
) -> Value {
    let mut value = place(spot, asked.action, &asked.parameters);
    let mut say = |key: &str, what: Value| value.insert(key.to_owned(), what);
    say(
        "allowed",
        json!(matches!(explanation.answer, Answer::Allowed(_))),
    );
    say("message", json!(message));
    if let Caller::Refused(why) = caller {
        say("token_refused", json!(why));
    }
    match &explanation.answer {
        Answer::Allowed(Basis::Anonymous) => say("by", json!("anonymous")),
        Answer::Allowed(Basis::Override) => say("by", json!("override")),
        Answer::Allowed(Basis::Grant { rule, role }) => {
            say("by", json!({"rule": rule, "role": role}))
        }
        Answer::Refused(refusal) => say(
            "refusal",
            json!({
                "permission": refusal.permission.name(),
                "conditions": misses(&refusal.misses),
                "roles": refusal.roles,
                "rules": refusal.rules,
            }),
        ),
    };
    if asked.explain {
        for (key, what) in explained(explanation) {
            say(&key, what);
        }
        say("anonymous_read", json!(spot.scope.anonymous_read()));
    }
    value.into()
}

fn explained(explanation: &Explanation) -> Map<String, Value> {
    let rules = explanation.rules.iter().map(|rule| {
        json!({
            "rule": rule.rule, "roles": rule.roles,
            "matches": rule.matches, "missed": rule.missed,
        })
    });
    let considered = explanation.considered.iter().map(|(one, failed)| {
        let mut value = grant(one);
        value.insert("permits".to_owned(), json!(failed.is_empty()));
        value.insert("failed".to_owned(), misses(failed));
        Value::from(value)
    });
    let near = explanation.near.iter().map(|one| Value::from(grant(one)));
    let mut value = Map::new();
    value.insert("rules".to_owned(), rules.collect());
    value.insert("considered".to_owned(), considered.collect());
    value.insert("near".to_owned(), near.collect());
    value
}

/// Whose people may do something.
pub(in crate::commands) fn who_can(
    spot: &Spot<'_>,
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
    let mut value = place(spot, action, parameters);
    value.insert("anonymous".to_owned(), json!(anybody));
    value.insert("holders".to_owned(), holders.collect());
    value.into()
}

/// Which rule has what.
pub(in crate::commands) fn matrix(spot: &Spot<'_>, matrix: &Matrix) -> Value {
    json!({
        "tenant": spot.tenant(),
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
fn place(
    spot: &Spot<'_>,
    action: Permission,
    parameters: &[(Condition, String)],
) -> Map<String, Value> {
    let parameters = parameters.iter();
    let parameters: Map<String, Value> = parameters
        .map(|(condition, value)| (condition.name().to_owned(), json!(value)))
        .collect();
    let mut value = Map::new();
    value.insert("action".to_owned(), json!(action.name()));
    value.insert("tenant".to_owned(), json!(spot.tenant()));
    value.insert("parameters".to_owned(), parameters.into());
    value
}

fn grant(grant: &Grant) -> Map<String, Value> {
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

fn misses(all: &[Miss]) -> Value {
    let one = |miss: &Miss| {
        json!({
            "rule": miss.rule, "role": miss.role, "name": miss.condition.name(),
            "wanted": miss.wanted, "got": miss.got,
        })
    };
    all.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn what_was_considered_has_its_misses() {
        let value = Value::from(explained(&sample::refused()));
        assert_eq!(value["rules"][0]["matches"], json!(false));
        assert_eq!(
            value["considered"][0],
            json!({
                "rule": "alice", "role": "enqueue-post", "permits": false,
                "conditions": {"project": "foo", "pipeline": ["post", "gate"]},
                "failed": [
                    {"rule": "alice", "role": "enqueue-post", "name": "project", "wanted": "foo",
                     "got": "bar"},
                    {"rule": "alice", "role": "enqueue-post", "name": "pipeline",
                     "wanted": ["post", "gate"], "got": null},
                ],
            })
        );
        assert_eq!(
            value["near"],
            json!([{"rule": "admin-user", "role": "admin", "conditions": {}}])
        );
    }
}
