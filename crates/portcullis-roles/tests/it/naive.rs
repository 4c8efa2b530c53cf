//! A naive implementation of a document's meaning: it loops over everything and remembers nothing.
//!
//! Written from the description alone, to compare the real implementation with.

use portcullis_core::{AdminOf, Identity};
use serde_json::{Map, Value};

/// The parameters of a request: names and values, a project maybe with two.
pub(crate) type Given = Vec<(&'static str, String)>;

/// Whether a caller may do something in a tenant, or at the root.
pub(crate) fn may(
    document: &Value,
    tenant: Option<&str>,
    who: Option<&Identity>,
    permission: &str,
    given: &Given,
) -> bool {
    let overridden = |admin: &AdminOf| match (admin, tenant) {
        (AdminOf::Nothing, _) | (AdminOf::Tenants(_), None) => false,
        (AdminOf::Tenants(names), Some(name)) => names.iter().any(|n| n == name),
        (AdminOf::Everything, _) => true,
    };
    if who.is_some_and(|who| overridden(&who.admin)) {
        return true;
    }
    let place = place(document, tenant);
    let has_readers = !listed(place.get("access-rules")).is_empty();
    let anonymous = place
        .get("anonymous-read-access")
        .map_or(!has_readers, |v| v == &Value::Bool(true));
    if permission == "read" && anonymous {
        return true;
    }
    let Some(who) = who else {
        return false;
    };
    for (rule, role) in pairs(&place) {
        if matches(document, &rule, tenant, who) && grants(document, &role, permission, given) {
            return true;
        }
    }
    false
}

/// Every rule with every role it has in a tenant.
pub(crate) fn pairs(place: &Map<String, Value>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    if let Some(Value::Object(mappings)) = place.get("role-mappings") {
        for (rule, roles) in mappings {
            for role in listed(Some(roles)) {
                pairs.push((rule.clone(), role.as_str().unwrap().to_owned()));
            }
        }
    }
    for (key, role) in [("admin-rules", "admin"), ("access-rules", "read")] {
        for rule in listed(place.get(key)) {
            pairs.push((rule.as_str().unwrap().to_owned(), role.to_owned()));
        }
    }
    pairs
}

/// The tenant of this name, or the root.
pub(crate) fn place(document: &Value, tenant: Option<&str>) -> Map<String, Value> {
    for item in document.as_array().unwrap() {
        let found = match tenant {
            Some(name) => item.get("tenant").filter(|t| t["name"] == name),
            None => item.get("api-root"),
        };
        if let Some(Value::Object(map)) = found {
            return map.clone();
        }
    }
    Map::new()
}

fn listed(value: Option<&Value>) -> Vec<Value> {
    match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(one) => vec![one.clone()],
    }
}

fn named<'d>(document: &'d Value, kind: &str, name: &str) -> &'d Value {
    let items = document.as_array().unwrap().iter();
    let mut found = items
        .filter_map(|item| item.get(kind))
        .filter(|v| v["name"] == name);
    found.next().unwrap()
}

/// Whether a rule matches a caller.
pub(crate) fn matches(document: &Value, rule: &str, tenant: Option<&str>, who: &Identity) -> bool {
    let conditions = &named(document, "authorization-rule", rule)["conditions"];
    if tenant.is_none() && conditions.to_string().contains("{tenant.name}") {
        return false;
    }
    any(conditions, tenant.unwrap_or_default(), who)
}

fn any(conditions: &Value, tenant: &str, who: &Identity) -> bool {
    match conditions {
        Value::Array(items) => items.iter().any(|item| any(item, tenant, who)),
        Value::Object(map) => all(map, &[], tenant, who),
        other => panic!("{other}"),
    }
}

fn all(map: &Map<String, Value>, above: &[&str], tenant: &str, who: &Identity) -> bool {
    map.iter().all(|(key, expected)| {
        let mut path = above.to_vec();
        path.extend(key.split('.'));
        match expected {
            Value::Object(inner) => all(inner, &path, tenant, who),
            leaf => is(claim(&path, who).as_ref(), leaf, tenant),
        }
    })
}

/// The claim that a path means.
fn claim(path: &[&str], who: &Identity) -> Option<Value> {
    let mut claims = who.claims.clone();
    claims.remove("zuul_uid");
    if path == ["zuul_uid"] {
        return Some(Value::String(who.uid.clone()));
    }
    below(&Value::Object(claims), path)
}

fn below(object: &Value, path: &[&str]) -> Option<Value> {
    let Value::Object(object) = object else {
        return None;
    };
    if let Some(value) = object.get(&path.join(".")) {
        return Some(value.clone());
    }
    for end in 1..path.len() {
        let inner = object.get(&path[..end].join("."));
        if let Some(found) = inner.and_then(|inner| below(inner, &path[end..])) {
            return Some(found);
        }
    }
    None
}

fn is(claim: Option<&Value>, expected: &Value, tenant: &str) -> bool {
    let Some(claim) = claim else {
        return false;
    };
    for expected in listed(Some(expected)) {
        let expected = match expected {
            Value::String(text) => Value::String(
                text.replace("{tenant.name}", tenant)
                    .replace("{{", "{")
                    .replace("}}", "}"),
            ),
            other => other,
        };
        if listed(Some(claim)).iter().any(|one| same(one, &expected)) {
            return true;
        }
    }
    false
}

fn same(claim: &Value, expected: &Value) -> bool {
    match (claim, expected) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

/// Whether a role grants something.
pub(crate) fn grants(document: &Value, role: &str, permission: &str, given: &Given) -> bool {
    match role {
        "admin" => return true,
        "read" => return permission == "read",
        _ => {}
    }
    match named(document, "role", role)["permissions"].get(permission) {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(conditional) => {
            conditional["conditions"]
                .as_object()
                .unwrap()
                .iter()
                .all(|(name, wanted)| {
                    let values = given.iter().filter(|(given, _)| given == name);
                    let mut values = values.map(|(_, value)| value);
                    values.any(|value| {
                        listed(Some(wanted))
                            .iter()
                            .any(|w| fits(w.as_str().unwrap(), value))
                    })
                })
        }
    }
}

fn fits(wanted: &str, value: &str) -> bool {
    match wanted.strip_prefix("glob:") {
        None => wanted == value,
        Some(pattern) => {
            let pattern: Vec<_> = pattern.chars().collect();
            let value: Vec<_> = value.chars().collect();
            glob(&pattern, &value)
        }
    }
}

fn glob(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', '*', rest @ ..] => (0..=text.len()).any(|n| glob(rest, &text[n..])),
        ['*', rest @ ..] => (0..=text.len())
            .take_while(|n| !text[..*n].contains(&'/'))
            .any(|n| glob(rest, &text[n..])),
        [c, rest @ ..] => matches!(text, [d, tail @ ..] if c == d && glob(rest, tail)),
    }
}
