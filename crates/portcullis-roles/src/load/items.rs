//! The items of the document, sorted by what they are.

use portcullis_document::{Node, Value, path};

use super::findings::Findings;

/// What an item may be.
const KINDS: &[&str] = &[
    "authorization-rule",
    "admin-rule",
    "role",
    "tenant",
    "api-root",
    "global-semaphore",
];

/// The items of a document, each with its path.
#[derive(Debug, Default)]
pub(super) struct Items<'d> {
    pub(super) rules: Vec<(String, &'d Node)>,
    pub(super) roles: Vec<(String, &'d Node)>,
    pub(super) tenants: Vec<(String, &'d Node)>,
    pub(super) root: Option<(String, &'d Node)>,
}

impl<'d> Items<'d> {
    /// Sorts the items of a document.
    pub(super) fn read(&mut self, root: &'d Node, findings: &mut Findings<'_>) {
        match &root.value {
            Value::Null => findings.fault("", "the document is empty"),
            Value::Seq(items) if items.is_empty() => {
                findings.fault("", "the document is empty");
            }
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.sort(item, &path::index("", index), findings);
                }
            }
            other => {
                let found = other.kind();
                let message = format!("the document must be a list of items, not {found}");
                findings.fault("", message);
            }
        }
    }

    fn sort(&mut self, item: &'d Node, at: &str, findings: &mut Findings<'_>) {
        let Value::Map(entries) = &item.value else {
            let found = item.kind();
            return findings.fault(at, format!("an item must be a map, not {found}"));
        };
        let [(key, node)] = entries.as_slice() else {
            let mut keys: Vec<_> = entries
                .iter()
                .map(|(key, _)| format!("`{}`", key.value))
                .collect();
            keys.sort_unstable();
            let has = if keys.is_empty() {
                "has none".to_owned()
            } else {
                format!("has {}", keys.join(", "))
            };
            let message =
                format!("an item must have exactly one key, like `tenant`; this one {has}");
            return findings.fault(at, message);
        };
        let at = path::key(at, key);
        match key.as_str() {
            "authorization-rule" | "admin-rule" => self.rules.push((at, node)),
            "role" => self.roles.push((at, node)),
            "tenant" => self.tenants.push((at, node)),
            "api-root" => match &self.root {
                None => self.root = Some((at, node)),
                Some((first, _)) => {
                    let message = format!("`api-root` is given twice, first at `{first}`");
                    findings.fault(&at, message);
                }
            },
            "global-semaphore" => findings.warn(&at, "`global-semaphore` is ignored"),
            key => {
                let message = format!("unknown item `{key}`");
                findings.unknown(&at, message, "known items", key, KINDS.iter().copied());
            }
        }
    }
}
