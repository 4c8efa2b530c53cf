use serde_json::json;

use super::*;

fn minimal() -> Value {
    json!({"name": "c", "level": "instance", "kind": "both", "url": "https://c.example/hook"})
}

fn faults(body: &Value) -> Vec<String> {
    let faults = ControllerDefinition::read(body).unwrap_err();
    faults.iter().map(Fault::to_string).collect()
}

#[test]
fn defaults_are_those_of_the_contract() {
    let definition = ControllerDefinition::read(&minimal()).unwrap();
    assert_eq!(definition.state, ControllerState::Enabled);
    assert_eq!(definition.failure_policy, FailurePolicy::Closed);
    assert_eq!((definition.concurrency, definition.rate), (32, 100));
    assert_eq!(definition.timeout.to_string(), "15s");
    assert!(!definition.may_untag);
    let json = serde_json::to_value(&definition).unwrap();
    assert_eq!(json["timeout"], "15s");
    let again: ControllerDefinition = serde_json::from_value(json).unwrap();
    assert_eq!(again, definition);
}

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let body = json!({
        "name": "a\u{7}", "level": "group", "kind": "validating", "url": "ftp://x", "may_untag": true,
        "rate": 0, "timeout": "1d", "match": {"projects": [], "tags": [""]}, "variables": ["\n"],
    });
    assert_eq!(
        faults(&body),
        [
            "name: unexpected character '\\u{7}' in a name",
            "path: required for level group",
            "url: expected a URL that begins with https:// or http://",
            "match.projects: an empty list matches no job: remove the key to match every job",
            "match.tags[0]: an entry can't be empty",
            "variables[0]: an entry can't contain control characters",
            "rate: expected 1 to 100000, found 0",
            "timeout: expected 100ms to 10m, found 1d",
            "may_untag: a validating controller can't remove tags",
        ]
    );
}

#[test]
fn wrong_forms_name_their_field() {
    let with = |key: &str, value: Value| {
        let mut body = minimal();
        body[key] = value;
        faults(&body).join("; ")
    };
    assert!(with("lvl", json!(1)).starts_with("lvl: unknown key"));
    assert!(with("kind", json!("any")).contains("kind: unknown value `any`"));
    assert!(with("match", json!({"project": []})).contains("match.project: unknown key"));
    assert!(with("policy", json!("p")).contains("can't be combined"));
    assert!(with("pull", json!(true)).contains("can't be combined"));
    assert!(with("url", Value::Null).contains("one of url, policy or pull is required"));
    assert!(with("path", json!("g")).contains("has no path"));
    assert!(with("state", json!("suspended")).contains("set by the server only"));
    assert!(with("url", json!("https://u:p@h/")).contains("user or password"));
    assert!(with("url", json!("https:///x")).contains("no host"));
    assert!(with("url", json!("https://h/a b")).contains("spaces"));
    assert!(with("url", json!("https://h/#a")).contains("fragment"));
}

#[test]
fn a_policy_is_a_name_or_code() {
    for policy in [json!("no-root"), json!({"code": "deny('x')"})] {
        let mut body = minimal();
        body["url"] = Value::Null;
        body["policy"] = policy.clone();
        let definition = ControllerDefinition::read(&body).unwrap();
        assert_eq!(serde_json::to_value(&definition).unwrap()["policy"], policy);
    }
    let mut body = minimal();
    body["url"] = Value::Null;
    body["policy"] = json!({"code": " "});
    assert_eq!(faults(&body), ["policy.code: a policy can't be empty"]);
    body["policy"] = json!({"text": "x"});
    assert!(
        faults(&body)
            .join("")
            .contains("the name of a policy, or a map with `code`")
    );
}

#[test]
fn a_patch_replaces_keys() {
    let definition = ControllerDefinition::read(&minimal()).unwrap();
    let pulling = definition
        .patched(&json!({"pull": true, "rate": 5}))
        .unwrap();
    assert_eq!(pulling.transport, Transport::Pull);
    assert_eq!(pulling.rate, 5);
    let back = pulling.patched(&json!({"rate": null})).unwrap();
    assert_eq!(back.rate, 100);
    assert!(definition.patched(&json!({"name": null})).is_err());
    assert!(definition.patched(&json!([])).is_err());
    assert!(definition.patched(&json!({"state": "suspended"})).is_err());
    let suspended = ControllerDefinition {
        state: ControllerState::Suspended,
        ..definition
    };
    let renamed = suspended.patched(&json!({"name": "d"})).unwrap();
    assert_eq!(renamed.state, ControllerState::Suspended);
    let enabled = suspended.patched(&json!({"state": "enabled"})).unwrap();
    assert_eq!(enabled.state, ControllerState::Enabled);
}
