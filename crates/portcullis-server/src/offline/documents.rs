//! The objects of a manifest's text, each with its place.
//!
//! The text is cut at its `---` lines first, so that a document that can't be read doesn't take the
//! others with it. YAML allows no such line inside anything.

use std::sync::Arc;

use portcullis_core::json;
use portcullis_kube::manifest::parts::{Part, parts};
use portcullis_kube::manifest::{self, Manifest};
use serde_json::Value;

use super::job;
use crate::config::yaml::{self, Dialect};
use crate::config::{self, Fault, Node, Position, Source};

/// One object of a text, or why it is none.
#[derive(Debug)]
pub struct Item {
    /// Its number among the objects of the text, from 0.
    pub index: usize,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// The object, or what is wrong.
    pub manifest: Result<Manifest, Box<Fault>>,
}

/// Reads all objects of a text, lists taken apart. `namespace` is for those that name none.
pub fn read_documents(source: &Source, namespace: &str) -> Vec<Item> {
    let mut reader = Reader {
        label: source.label(),
        namespace,
        items: Vec::new(),
    };
    for part in parts(source.text()) {
        reader.read(&part);
    }
    reader.items
}

struct Reader<'a> {
    label: &'a str,
    namespace: &'a str,
    items: Vec<Item>,
}

impl Reader<'_> {
    fn read(&mut self, part: &Part<'_>) {
        let source = Source::text_named(self.label, part.text);
        let line = part.line();
        match yaml::parse_as(&source, Dialect::Kubernetes) {
            // As for kubectl, a document of nothing is none.
            Ok(document) if document.root.value == config::Value::Null => {}
            Ok(document) => {
                let root = &document.root;
                self.take(&source, part.before, Some(root), root.to_json());
            }
            // What only JSON has: escapes of two halves, tabs.
            Err(faults) => match json::scan(part.text.as_bytes()) {
                Ok(scanned) => {
                    let value = serde_json::from_str(scanned.text()).unwrap_or_default();
                    self.take(&source, part.before, None, value);
                }
                Err(_) => {
                    let fault = faults
                        .into_iter()
                        .next()
                        .unwrap_or_else(|| source.fault(None, "", "the document cannot be read"));
                    self.fail(fault, part.before, line);
                }
            },
        }
    }

    /// Takes an object, or the objects of a list.
    fn take(&mut self, source: &Arc<Source>, before: u64, node: Option<&Node>, value: Value) {
        if let Some(items) = manifest::list_items(&value) {
            for (index, item) in items.into_iter().enumerate() {
                let node = node.and_then(|n| n.at_path(&format!("items[{index}]")));
                self.take(source, before, node, item);
            }
            return;
        }
        let position = node.map_or(Position { line: 1, column: 1 }, |n| n.position);
        let line = before + position.line;
        let project = job::project(&value).map(str::to_owned);
        match Manifest::new(value, project.as_deref().unwrap_or(self.namespace)) {
            Ok(manifest) => self.push(line, Ok(manifest)),
            Err(wrong) => {
                let at = node.map_or(position, |n| n.nearest(wrong.path).position);
                self.fail(source.fault(Some(at), "", wrong.message), before, line);
            }
        }
    }

    fn fail(&mut self, mut fault: Fault, before: u64, line: u64) {
        if let Some(at) = &mut fault.position {
            at.line += before;
        }
        fault.path = format!("document {}", self.items.len());
        let line = fault.position.map_or(line, |at| at.line);
        self.push(line, Err(Box::new(fault)));
    }

    fn push(&mut self, line: u64, manifest: Result<Manifest, Box<Fault>>) {
        let index = self.items.len();
        self.items.push(Item {
            index,
            line,
            manifest,
        });
    }
}
