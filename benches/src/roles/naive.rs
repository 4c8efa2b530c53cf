//! Role checks as the document describes them: a plain loop over all rules and their roles.

use serde_json::{Map, Value};

/// Rules with what they are mapped to, in the order of the document.
pub(super) struct Naive {
    mapped: Vec<(Value, Vec<Map<String, Value>>)>,
}

impl Naive {
    /// Reads a document that `document::document` made.
    pub(super) fn new(document: &Value) -> Option<Self> {
        let items = document.as_array()?;
        let named = |kind: &str, name: &str| {
            let mut of_kind = items.iter().filter_map(|item| item.get(kind));
            of_kind.find(|item| item.get("name").and_then(Value::as_str) == Some(name))
        };
        let tenant = items.iter().find_map(|item| item.get("tenant"))?;
        let mut mapped = Vec::new();
        for (rule, roles) in tenant.get("role-mappings")?.as_object()? {
            let rule = named("authorization-rule", rule)?;
            let permissions = |role: &Value| -> Option<Map<String, Value>> {
                let role = role.as_str()?;
                match named("role", role) {
                    Some(role) => role.get("permissions")?.as_object().cloned(),
                    // The role that is there without being written.
                    None => Some(Map::from_iter([(role.to_owned(), Value::Bool(true))])),
                }
            };
            let roles: Option<Vec<_>> = roles.as_array()?.iter().map(permissions).collect();
            mapped.push((rule.get("conditions")?.clone(), roles?));
        }
        Some(Self { mapped })
    }

    /// Whether somebody with these claims may do this.
    pub(super) fn allows(
        &self,
        claims: &Map<String, Value>,
        permission: &str,
        parameters: &[(&str, &str)],
    ) -> bool {
        self.mapped.iter().any(|(conditions, roles)| {
            matches(conditions, claims)
                && roles
                    .iter()
                    .any(|role| grants(role.get(permission), parameters))
        })
    }
}

/// One of the alternatives, with all its claims.
fn matches(conditions: &Value, claims: &Map<String, Value>) -> bool {
    let mut alternatives = conditions.as_array().into_iter().flatten();
    alternatives.any(|one| {
        let mut wanted = one.as_object().into_iter().flatten();
        wanted.all(|(name, wanted)| match claims.get(name) {
            Some(Value::Array(several)) => several.contains(wanted),
            Some(one) => one == wanted,
            None => false,
        })
    })
}

fn grants(granted: Option<&Value>, parameters: &[(&str, &str)]) -> bool {
    match granted {
        None => false,
        Some(Value::Bool(granted)) => *granted,
        Some(granted) => {
            let conditions = granted.get("conditions").and_then(Value::as_object);
            conditions.into_iter().flatten().all(|(name, wanted)| {
                let given = parameters.iter().find(|(given, _)| given == name);
                given.is_some_and(|(_, value)| is_one_of(wanted, value))
            })
        }
    }
}

fn is_one_of(wanted: &Value, value: &str) -> bool {
    match wanted {
        Value::Array(several) => several.iter().any(|one| is_one_of(one, value)),
        Value::String(text) => match text
            .strip_prefix("glob:")
            .and_then(|glob| glob.strip_suffix('*'))
        {
            Some(start) => value.starts_with(start),
            None => text == value,
        },
        _ => false,
    }
}
