//! Reading `role`.

use serde_json::{Map, Value};

use super::super::permission::{Condition, Permission};
use super::super::role::{ADMIN, Pattern, READ, Requirement, Right, Role};
use super::findings::{At, Findings, kind, text_not};

/// What a role may have.
const KEYS: &[&str] = &["name", "permissions"];

/// Reads a role that has this name.
pub(super) fn read(
    name: &str,
    map: &Map<String, Value>,
    at: &At,
    findings: &mut Findings,
) -> Option<Role> {
    let faults = findings.faults.len();
    if [ADMIN, READ].contains(&name) {
        let message = format!("the role `{name}` is built in: choose another name");
        findings.fault(&at.key("name"), message);
    }
    for key in map.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let message = format!("role `{name}`: unknown key `{key}`");
        findings.unknown(
            &at.key(key),
            message,
            "known keys of a role",
            key,
            KEYS.iter().copied(),
        );
    }
    let mut reader = Reader {
        role: name,
        findings,
    };
    let permits = match map.get("permissions") {
        None => {
            reader.fault(at, "there are no `permissions`");
            Vec::new()
        }
        Some(Value::Object(permissions)) => reader.permissions(permissions, &at.key("permissions")),
        Some(other) => {
            let wrong = format!("`permissions` must be a map, not {}", kind(other));
            reader.fault(&at.key("permissions"), wrong);
            Vec::new()
        }
    };
    if findings.faults.len() > faults {
        return None;
    }
    if permits.is_empty() {
        findings.warn(
            &at.key("permissions"),
            format!("role `{name}` grants nothing"),
        );
    }
    Some(Role::new(name, permits))
}

struct Reader<'r> {
    role: &'r str,
    findings: &'r mut Findings,
}

impl Reader<'_> {
    fn fault(&mut self, at: &At, message: impl AsRef<str>) {
        let message = format!("role `{}`: {}", self.role, message.as_ref());
        self.findings.fault(at, message);
    }

    fn permissions(&mut self, map: &Map<String, Value>, at: &At) -> Vec<(Permission, Right)> {
        let mut permits = Vec::new();
        let mut seen = Vec::new();
        for (key, value) in map {
            let at = at.key(key);
            let Some(permission) = Permission::parse(key) else {
                let known = Permission::ALL.iter().map(|permission| permission.name());
                let message = format!("role `{}`: unknown permission `{key}`", self.role);
                self.findings
                    .unknown(&at, message, "known permissions", key, known);
                continue;
            };
            if seen.contains(&permission) {
                let twice = format!(
                    "the permission `{permission}` is given twice: `set-tenant-state` is an alias for it"
                );
                self.fault(&at, twice);
            }
            seen.push(permission);
            if let Some(right) = self.right(permission, value, &at) {
                permits.push((permission, right));
            }
        }
        permits
    }

    /// How far something is permitted; nothing for `false` and for faults.
    fn right(&mut self, permission: Permission, value: &Value, at: &At) -> Option<Right> {
        let map = match value {
            Value::Bool(permitted) => return permitted.then(Right::default),
            Value::Object(map) => map,
            other => {
                let wrong = format!(
                    "the permission `{permission}` must be `true`, `false` or a map with `conditions`, not {}",
                    kind(other)
                );
                self.fault(at, wrong);
                return None;
            }
        };
        for key in map.keys().filter(|key| *key != "conditions") {
            let message = format!(
                "role `{}`: unknown key `{key}` in the permission `{permission}`",
                self.role
            );
            self.findings.unknown(
                &at.key(key),
                message,
                "known keys of a permission",
                key,
                ["conditions"],
            );
        }
        let at_conditions = at.key("conditions");
        match map.get("conditions") {
            None => {
                self.fault(at, format!("the permission `{permission}` has no `conditions`; without conditions, write `{permission}: true`"));
                None
            }
            Some(Value::Object(conditions)) if conditions.is_empty() => {
                self.fault(&at_conditions, format!("the `conditions` of the permission `{permission}` are empty; without conditions, write `{permission}: true`"));
                None
            }
            Some(Value::Object(conditions)) => {
                self.requirements(permission, conditions, &at_conditions)
            }
            Some(other) => {
                let wrong = format!(
                    "the `conditions` of the permission `{permission}` must be a map, not {}",
                    kind(other)
                );
                self.fault(&at_conditions, wrong);
                None
            }
        }
    }

    fn requirements(
        &mut self,
        permission: Permission,
        map: &Map<String, Value>,
        at: &At,
    ) -> Option<Right> {
        let mut requirements = Vec::new();
        for (key, value) in map {
            let at = at.key(key);
            let taken = permission.conditions();
            match Condition::parse(key) {
                Some(condition) if taken.contains(&condition) => {
                    requirements.extend(self.requirement(permission, condition, value, &at));
                }
                known => {
                    let wrong = match known {
                        Some(_) => format!(
                            "the permission `{permission}` does not support the condition `{key}`"
                        ),
                        None => {
                            format!("unknown condition `{key}` of the permission `{permission}`")
                        }
                    };
                    let takes = if taken.is_empty() {
                        "it takes none".to_owned()
                    } else {
                        let names: Vec<_> = taken.iter().map(|c| format!("`{c}`")).collect();
                        format!("it takes {}", names.join(", "))
                    };
                    let message = format!("role `{}`: {wrong}; {takes}", self.role);
                    if taken.is_empty() {
                        self.findings.fault(&at, message);
                    } else {
                        let what = format!("conditions of `{permission}`");
                        let names = taken.iter().map(|condition| condition.name());
                        self.findings.unknown(&at, message, &what, key, names);
                    }
                }
            }
        }
        (requirements.len() == map.len()).then(|| Right::when(requirements))
    }

    fn requirement(
        &mut self,
        permission: Permission,
        condition: Condition,
        value: &Value,
        at: &At,
    ) -> Option<Requirement> {
        let items = match value {
            Value::Array(items) if items.is_empty() => {
                self.fault(
                    at,
                    format!("the list for the condition `{condition}` of `{permission}` is empty"),
                );
                return None;
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(i, v)| (at.item(i), v))
                .collect(),
            one => vec![(at.clone(), one)],
        };
        let wanted = items.len();
        let mut any_of = Vec::new();
        for (at, item) in items {
            let wrong = match item {
                Value::String(text) => match Pattern::parse(text) {
                    Ok(pattern) => {
                        any_of.push(pattern);
                        continue;
                    }
                    Err(wrong) => format!("invalid regular expression `{text}`: {wrong}"),
                },
                other => format!("must be {}", text_not(other)),
            };
            self.fault(
                &at,
                format!("the condition `{condition}` of `{permission}`: {wrong}"),
            );
        }
        (any_of.len() == wanted).then(|| Requirement {
            condition,
            written: value.clone(),
            any_of,
        })
    }
}
