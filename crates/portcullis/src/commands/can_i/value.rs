//! The machine-readable answer about an action of the REST API.

use portcullis_roles::{AccessDecision, Basis, Condition, Explanation, Permission};
use serde_json::{Map, Value, json};

use crate::commands::access::caller::Caller;
use crate::commands::access::scope::ResolvedScope;
use crate::commands::access::value::{grant, misses, place};

/// The answer.
pub(super) fn answer(
    resolved: &ResolvedScope<'_>,
    action: Permission,
    parameters: &[(Condition, String)],
    caller: &Caller,
    explanation: &Explanation,
    message: &str,
) -> Map<String, Value> {
    let mut value = place(resolved, action, parameters);
    let mut say = |key: &str, what: Value| value.insert(key.to_owned(), what);
    say(
        "allowed",
        json!(matches!(explanation.answer, AccessDecision::Allowed(_))),
    );
    say("message", json!(message));
    if let Caller::Refused(why) = caller {
        say("token_refused", json!(why));
    }
    match &explanation.answer {
        AccessDecision::Allowed(Basis::Anonymous) => say("by", json!("anonymous")),
        AccessDecision::Allowed(Basis::Override) => say("by", json!("override")),
        AccessDecision::Allowed(Basis::Grant { rule, role }) => {
            say("by", json!({"rule": rule, "role": role}))
        }
        AccessDecision::Refused(refusal) => say(
            "refusal",
            json!({
                "permission": refusal.permission.name(),
                "conditions": misses(&refusal.misses),
                "roles": refusal.roles,
                "rules": refusal.rules,
            }),
        ),
    };
    value
}

/// Everything that was considered.
pub(super) fn explained(explanation: &Explanation) -> Map<String, Value> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::access::sample;

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
