//! The tenants document that is measured, and the people in it.

use portcullis_core::{AdminOf, Identity};
use portcullis_document::Document;
use portcullis_roles::Roles;
use serde_json::{Map, Value, json};

use crate::failure::{Context, Result};

/// How many rules there are, and how many roles.
pub(crate) const MANY: usize = 200;
/// The tenant.
pub(super) const TENANT: &str = "t";

/// What the conditions of a rule look like.
pub(super) type Conditions = fn(usize) -> Value;

/// One claim, another value in each rule.
pub(super) fn one_claim(rule: usize) -> Value {
    json!([{"preferred_username": format!("user{rule}")}])
}

/// Two claims, of which all rules share one.
pub(super) fn two_claims(rule: usize) -> Value {
    json!([{"iss": "corp", "groups": format!("group{rule}")}])
}

/// As many rules as roles, each rule mapped to a role of its own and to reading.
pub(super) fn document(conditions: Conditions) -> Value {
    let mut items = Vec::new();
    let mut mappings = Map::new();
    for n in 0..MANY {
        let (rule, role) = (format!("rule{n:03}"), format!("role{n:03}"));
        items.push(json!({"authorization-rule": {"name": rule, "conditions": conditions(n)}}));
        items.push(json!({"role": {"name": role, "permissions": {
            "autohold": true,
            "enqueue": {"conditions": {"project": [format!("p{n}"), format!("glob:org{n}/*")], "pipeline": "post"}},
        }}}));
        mappings.insert(rule, json!([role, "read"]));
    }
    items.push(
        json!({"tenant": {"name": TENANT, "anonymous-read-access": false, "role-mappings": mappings,
            "projects": ["p0", "p1", "p2", "p3", "org0/a"]}}),
    );
    Value::Array(items)
}

/// The document as the library reads it.
pub(super) fn load(document: &Value) -> Result<Roles> {
    let document = Document::without_text("tenants", document);
    let loaded = Roles::load(&document, None).map_err(|faults| faults.to_string());
    Ok(loaded.context("the tenants document")?.roles)
}

/// What is said, beside what every token says, of somebody whom the rule of this number matches.
pub(super) fn claims(number: usize) -> Map<String, Value> {
    let mut claims = Map::new();
    let mut say = |name: &str, value: Value| claims.insert(name.to_owned(), value);
    say("preferred_username", json!(format!("user{number}")));
    say(
        "groups",
        json!(["staff", "everyone", format!("group{number}")]),
    );
    claims
}

/// Somebody whom the rule of this number matches.
pub(super) fn caller(number: usize) -> Identity {
    let mut claims = claims(number);
    for (name, value) in [
        ("iss", json!("corp")),
        ("aud", json!("portal")),
        ("sub", json!(format!("user{number}"))),
        ("iat", json!(1_800_000_000_u64)),
        ("exp", json!(1_900_000_000_u64)),
    ] {
        claims.insert(name.to_owned(), value);
    }
    Identity {
        claims,
        uid: format!("user{number}"),
        admin: AdminOf::Nothing,
    }
}
