//! Denials match the description of the API.

use serde_json::{Value, json};

use super::Api;
use portcullis_testing::tokens::of;

/// What is wrong with a value by a schema: only what descriptions here are made of is known.
fn faults(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').unwrap();
        let schema = document.pointer(pointer).expect("a reference to nothing");
        return faults(document, schema, value, at);
    }
    let mut found = Vec::new();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        found.extend(faults(document, part, value, at));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(some) => some.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let own = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.is_empty() && !types.contains(&own) {
        found.push(format!("{at}: {own} instead of {types:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        if value.get(name).is_none() {
            found.push(format!("{at}: lacks {name}"));
        }
    }
    if let (Some(known), Some(members)) = (schema["properties"].as_object(), value.as_object()) {
        for (name, member) in members {
            match known.get(name) {
                Some(schema) => {
                    found.extend(faults(document, schema, member, &format!("{at}.{name}")))
                }
                // A part of `allOf` describes what it adds.
                None if schema.get("type").is_none() => {}
                None => found.push(format!("{at}: {name} is not described")),
            }
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            found.extend(faults(
                document,
                &schema["items"],
                item,
                &format!("{at}[{index}]"),
            ));
        }
    }
    found
}

#[test]
fn refusals_are_as_described() {
    let tenants = json!([
        {"authorization-rule": {"name": "kim", "conditions": [{"preferred_username": "kim"}]}},
        {"role": {"name": "runner", "permissions": {"enqueue": {"conditions": {"project": "foo"}}}}},
        {"tenant": {"name": "t1", "anonymous-read-access": false, "role-mappings": {"kim": "runner"}}},
    ]);
    let api = Api::start(&tenants);
    let document = api.get(None, "/openapi.json").json();
    let enqueue = json!({"pipeline": "check", "ref": "main"});
    let foreign = "/api/tenant/t1/project/bar/enqueue";
    for (response, answer) in [
        ("Unauthorized", api.get(None, "/api/tenant/t1/status")),
        (
            "Unauthorized",
            api.get(Some("garbage"), "/api/tenant/t1/status"),
        ),
        ("Forbidden", api.get(Some(&of("kim")), "/api/v1/decisions")),
        ("Forbidden", api.post(Some(&of("kim")), foreign, &enqueue)),
        (
            "Forbidden",
            api.get(Some(&of("bob")), "/api/tenant/t1/status"),
        ),
    ] {
        let described = &document["components"]["responses"][response];
        let schema = &described["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{response}");
        let body = answer.json();
        assert_eq!(
            faults(&document, schema, &body, response),
            [""; 0],
            "{body}"
        );
    }
    let unmet = api.post(Some(&of("kim")), foreign, &enqueue).json();
    let condition = &unmet["error"]["details"]["conditions"][0];
    assert_eq!(
        *condition,
        json!({"name": "project", "wanted": "foo", "got": "bar", "rule": "kim", "role": "runner"})
    );
}

#[test]
fn what_is_not_described_would_be_found() {
    let document = json!({"one": {"type": "object", "required": ["a"], "properties": {
        "a": {"type": "array", "items": {"type": ["string", "null"]}}}}});
    let schema = json!({"allOf": [{"$ref": "#/one"}]});
    let count = |value: Value| faults(&document, &schema, &value, "").len();
    assert_eq!(count(json!({"a": ["x", null]})), 0);
    assert_eq!(count(json!({"a": [1]})), 1);
    assert_eq!(count(json!({"a": [], "b": 1})), 1);
    assert_eq!(count(json!({})), 1);
}
