//! Faults and warnings found in the document.

use portcullis_document::{Document, Fault, Located, Node, Value, path, read};
use serde::Deserialize;

/// What was found, each at its place.
#[derive(Debug)]
pub(super) struct Findings<'d> {
    document: &'d Document,
    pub(super) faults: Vec<Fault>,
    pub(super) warnings: Vec<Fault>,
}

impl<'d> Findings<'d> {
    /// Nothing yet.
    pub(super) fn new(document: &'d Document) -> Self {
        Self {
            document,
            faults: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Nothing yet, of the same document.
    pub(super) fn apart(&self) -> Self {
        Self::new(self.document)
    }

    /// Something is wrong.
    pub(super) fn fault(&mut self, at: &str, message: impl Into<String>) {
        self.faults.push(self.document.fault(at, message));
    }

    /// Something is not known.
    pub(super) fn unknown<'n>(
        &mut self,
        at: &str,
        message: impl Into<String>,
        what: &str,
        written: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let fault = self.document.fault(at, message);
        self.faults.push(fault.with_known(what, written, known));
    }

    /// Something is odd.
    pub(super) fn warn(&mut self, at: &str, message: impl Into<String>) {
        self.warnings.push(self.document.fault(at, message));
    }

    /// What is written at a place, without what is of a wrong form; `whose` begins the messages.
    pub(super) fn typed<T: for<'de> Deserialize<'de>>(
        &mut self,
        node: &Node,
        at: &str,
        whose: &str,
    ) -> Option<T> {
        let (value, faults) = read::partly(&self.document.source, node, at);
        self.faults.extend(faults.into_iter().map(|fault| Fault {
            message: format!("{whose}: {}", fault.message),
            ..fault
        }));
        value
    }

    /// Warns of keys that are known to others, and takes them out.
    pub(super) fn without(&mut self, node: &Node, ignored: &[&str], at: &str, whose: &str) -> Node {
        let mut node = node.clone();
        if let Value::Map(entries) = &mut node.value {
            entries.retain(|(key, _)| {
                let is_ignored = ignored.contains(&key.as_str());
                if is_ignored {
                    let at = path::key(at, key);
                    self.warn(&at, format!("{whose}: `{}` is ignored", key.value));
                }
                !is_ignored
            });
        }
        node
    }

    /// The name of a rule, a role or a tenant, if it has a good one. Whether it has one at all is a matter of form.
    pub(super) fn name<'v>(&mut self, node: &'v Node, at: &str, what: &str) -> Option<&'v str> {
        let Value::Str(name) = &node.get("name")?.value else {
            return None;
        };
        let wrong = match name {
            name if name.is_empty() => "must not be empty",
            name if name.chars().any(char::is_control) => "must not contain control characters",
            name => return Some(name),
        };
        let message = format!("the name of the {what} {wrong}");
        self.fault(&path::key(at, "name"), message);
        None
    }
}

/// The entries of a map, by key.
pub(super) fn sorted(entries: &[(Located<String>, Node)]) -> Vec<(&str, &Node)> {
    let entries = entries.iter();
    let mut sorted: Vec<_> = entries
        .map(|(key, node)| (key.value.as_str(), node))
        .collect();
    sorted.sort_by_key(|(key, _)| *key);
    sorted
}

/// "text, not ...", with a hint where quotes would make it one.
pub(super) fn text_not(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) => {
            let written = value.to_json();
            format!(
                "text, not {}: put it in quotes, like \"{written}\"",
                value.kind()
            )
        }
        other => format!("text, not {}", other.kind()),
    }
}
