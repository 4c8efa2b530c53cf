//! Shorthands for documents, callers and parameters.

use portcullis_core::{AdminOf, Identity};
use portcullis_document::{Document, Fault, Faults};
use portcullis_roles::{AccessDecision, Condition, Load, Parameters, Permission, Roles, Scope};
use serde_json::{Value, json};

/// A rule with these conditions.
pub(crate) fn rule(name: &str, conditions: Value) -> Value {
    json!({"authorization-rule": {"name": name, "conditions": conditions}})
}

/// A role with these permissions.
pub(crate) fn role(name: &str, permissions: Value) -> Value {
    json!({"role": {"name": name, "permissions": permissions}})
}

/// A tenant with these keys beside its name.
pub(crate) fn tenant(name: &str, keys: Value) -> Value {
    let mut tenant = json!({"name": name});
    let keys = keys.as_object().unwrap().clone();
    tenant.as_object_mut().unwrap().extend(keys);
    json!({ "tenant": tenant })
}

/// One list of all these.
pub(crate) fn document(parts: &[Value]) -> Value {
    let items = parts.iter().flat_map(|part| match part {
        Value::Array(items) => items.clone(),
        item => vec![item.clone()],
    });
    Value::Array(items.collect())
}

/// What a document becomes.
pub(crate) fn read(document: &Value, previous: Option<&Roles>) -> Result<Load, Faults> {
    Roles::load(&Document::without_text("tenants.yaml", document), previous)
}

/// What a document becomes, without a fault.
pub(crate) fn load(document: &Value) -> Load {
    let load = read(document, None).unwrap();
    assert!(load.left_out.is_empty(), "{:?}", load.left_out);
    load
}

/// The roles of a document without a fault.
pub(crate) fn roles(document: &Value) -> Roles {
    load(document).roles
}

/// The scope of a tenant.
pub(crate) fn scope<'r>(roles: &'r Roles, tenant: &str) -> &'r Scope {
    roles.tenant(tenant).unwrap().scope()
}

/// What is wrong with a document: the faults of the file, or else those of its tenants.
pub(crate) fn faults(document: &Value) -> Vec<Fault> {
    match read(document, None) {
        Err(faults) => faults.0,
        Ok(load) => load.left_out.into_iter().flat_map(|l| l.faults).collect(),
    }
}

/// A caller with these claims; the uid is `sub`.
pub(crate) fn who(claims: Value) -> Identity {
    let claims = claims.as_object().unwrap().clone();
    Identity {
        uid: claims
            .get("sub")
            .and_then(Value::as_str)
            .unwrap_or("-")
            .to_owned(),
        claims,
        admin: AdminOf::Nothing,
    }
}

/// A caller who is admin of these tenants by token.
pub(crate) fn admin_of(tenants: &[&str]) -> Identity {
    let admin = if tenants == ["*"] {
        AdminOf::Everything
    } else {
        AdminOf::Tenants(tenants.iter().map(ToString::to_string).collect())
    };
    Identity {
        admin,
        ..who(json!({"iss": "op", "sub": "operator"}))
    }
}

/// Parameters from `project=foo pipeline=post`.
pub(crate) fn parameters(text: &str) -> Parameters<'_> {
    let mut parameters = Parameters::new();
    for pair in text.split_whitespace() {
        let (name, value) = pair.split_once('=').unwrap();
        parameters = parameters.with(Condition::parse(name).unwrap(), Some(value));
    }
    parameters
}

/// A permission by its name.
pub(crate) fn permission(name: &str) -> Permission {
    Permission::parse(name).unwrap()
}

/// Whether something may happen, asked in one line: `enqueue project=foo pipeline=post`.
pub(crate) fn may(scope: &Scope, who: Option<&Identity>, what: &str) -> bool {
    let (name, rest) = what.split_once(' ').unwrap_or((what, ""));
    let answer = scope.check(who, permission(name), &parameters(rest));
    matches!(answer, AccessDecision::Allowed(_))
}
