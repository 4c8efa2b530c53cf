//! Reading `role`.

use std::collections::BTreeMap;

use portcullis_document::{Located, Node, Value, path};

use super::super::permission::{Condition, Permission};
use super::super::role::{ADMIN, Pattern, READ, Requirement, Right, Role};
use super::findings::{Findings, sorted, text_not};
use super::spec::RoleSpec;

/// Reads a role.
pub(super) fn read(spec: &RoleSpec, at: &str, findings: &mut Findings<'_>) -> Option<Role> {
    let faults = findings.faults.len();
    let name = spec.name.as_str();
    if [ADMIN, READ].contains(&name) {
        let message = format!("the role `{name}` is built in: choose another name");
        findings.fault(&path::key(at, "name"), message);
    }
    let at = path::key(at, "permissions");
    let mut reader = Reader {
        role: name,
        findings,
    };
    let permits = reader.permissions(&spec.permissions, &at);
    if findings.faults.len() > faults {
        return None;
    }
    if permits.is_empty() {
        findings.warn(&at, format!("role `{name}` grants nothing"));
    }
    Some(Role::new(name, permits))
}

struct Reader<'r, 'd> {
    role: &'r str,
    findings: &'r mut Findings<'d>,
}

impl Reader<'_, '_> {
    fn fault(&mut self, at: &str, message: impl AsRef<str>) {
        let message = format!("role `{}`: {}", self.role, message.as_ref());
        self.findings.fault(at, message);
    }

    fn permissions(&mut self, map: &BTreeMap<String, Node>, at: &str) -> Vec<(Permission, Right)> {
        let mut permits = Vec::new();
        let mut seen = Vec::new();
        for (key, node) in map {
            let at = path::key(at, key);
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
            if let Some(right) = self.right(permission, node, &at) {
                permits.push((permission, right));
            }
        }
        permits
    }

    /// How far something is permitted; nothing for `false` and for faults.
    fn right(&mut self, permission: Permission, node: &Node, at: &str) -> Option<Right> {
        let entries = match &node.value {
            Value::Bool(permitted) => return permitted.then(Right::default),
            Value::Map(entries) => entries,
            other => {
                let wrong = format!(
                    "the permission `{permission}` must be `true`, `false` or a map with `conditions`, not {}",
                    other.kind()
                );
                self.fault(at, wrong);
                return None;
            }
        };
        for (key, _) in sorted(entries) {
            if key == "conditions" {
                continue;
            }
            let message = format!(
                "role `{}`: unknown key `{key}` in the permission `{permission}`",
                self.role
            );
            self.findings.unknown(
                &path::key(at, key),
                message,
                "known keys of a permission",
                key,
                ["conditions"],
            );
        }
        let at_conditions = path::key(at, "conditions");
        match node.get("conditions").map(|node| &node.value) {
            None => {
                self.fault(at, format!("the permission `{permission}` has no `conditions`; without conditions, write `{permission}: true`"));
                None
            }
            Some(Value::Map(conditions)) if conditions.is_empty() => {
                self.fault(&at_conditions, format!("the `conditions` of the permission `{permission}` are empty; without conditions, write `{permission}: true`"));
                None
            }
            Some(Value::Map(conditions)) => {
                self.requirements(permission, conditions, &at_conditions)
            }
            Some(other) => {
                let wrong = format!(
                    "the `conditions` of the permission `{permission}` must be a map, not {}",
                    other.kind()
                );
                self.fault(&at_conditions, wrong);
                None
            }
        }
    }

    fn requirements(
        &mut self,
        permission: Permission,
        entries: &[(Located<String>, Node)],
        at: &str,
    ) -> Option<Right> {
        let mut requirements = Vec::new();
        for (key, node) in sorted(entries) {
            let at = path::key(at, key);
            let taken = permission.conditions();
            match Condition::parse(key) {
                Some(condition) if taken.contains(&condition) => {
                    requirements.extend(self.requirement(permission, condition, node, &at));
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
        (requirements.len() == entries.len()).then(|| Right::when(requirements))
    }

    fn requirement(
        &mut self,
        permission: Permission,
        condition: Condition,
        node: &Node,
        at: &str,
    ) -> Option<Requirement> {
        let items = match &node.value {
            Value::Seq(items) if items.is_empty() => {
                self.fault(
                    at,
                    format!("the list for the condition `{condition}` of `{permission}` is empty"),
                );
                return None;
            }
            Value::Seq(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| (path::index(at, index), &item.value))
                .collect(),
            one => vec![(at.to_owned(), one)],
        };
        let wanted = items.len();
        let mut any_of = Vec::new();
        for (at, item) in items {
            let wrong = match item {
                Value::Str(text) => match Pattern::parse(text) {
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
            written: node.to_json(),
            any_of,
        })
    }
}
