//! The items of the document, sorted by what they are.

use serde_json::Value;

use super::findings::{At, Findings, kind};

/// What an item may be.
const KINDS: &[&str] = &[
    "authorization-rule",
    "admin-rule",
    "role",
    "tenant",
    "api-root",
    "global-semaphore",
];

/// The items of a document, each with its place.
#[derive(Debug, Default)]
pub(super) struct Items<'d> {
    pub(super) rules: Vec<(At, &'d Value)>,
    pub(super) roles: Vec<(At, &'d Value)>,
    pub(super) tenants: Vec<(At, &'d Value)>,
    pub(super) root: Option<(At, &'d Value)>,
}

impl<'d> Items<'d> {
    /// Sorts the items of a document.
    pub(super) fn read(&mut self, document: &'d Value, findings: &mut Findings) {
        let at = At::default();
        match document {
            Value::Null => findings.fault(&at, "the document is empty"),
            Value::Array(items) if items.is_empty() => {
                findings.fault(&at, "the document is empty");
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.sort(item, &at.item(index), findings);
                }
            }
            other => findings.fault(
                &at,
                format!("the document must be a list of items, not {}", kind(other)),
            ),
        }
    }

    fn sort(&mut self, item: &'d Value, at: &At, findings: &mut Findings) {
        let Some(map) = findings.map(item, at, "an item") else {
            return;
        };
        let (1, Some((key, value))) = (map.len(), map.iter().next()) else {
            let keys: Vec<_> = map.keys().map(|key| format!("`{key}`")).collect();
            let has = if keys.is_empty() {
                "has none".to_owned()
            } else {
                format!("has {}", keys.join(", "))
            };
            let message =
                format!("an item must have exactly one key, like `tenant`; this one {has}");
            return findings.fault(at, message);
        };
        let at = at.key(key);
        match key.as_str() {
            "authorization-rule" | "admin-rule" => self.rules.push((at, value)),
            "role" => self.roles.push((at, value)),
            "tenant" => self.tenants.push((at, value)),
            "api-root" => match &self.root {
                None => self.root = Some((at, value)),
                Some((first, _)) => {
                    findings.fault(
                        &at,
                        format!("`api-root` is given twice, first at `{first}`"),
                    );
                }
            },
            "global-semaphore" => findings.warn(&at, "`global-semaphore` is ignored"),
            _ => {
                let message = format!("unknown item `{key}`");
                findings.unknown(&at, message, "known items", key, KINDS.iter().copied());
            }
        }
    }
}
