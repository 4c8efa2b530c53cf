//! The objects and reviews in a text, each with its position.
//!
//! The text is cut at its `---` lines first, so that a document that can't be parsed doesn't affect the
//! others. YAML allows no such line inside anything.

use std::sync::Arc;

use portcullis_core::json::{self, JsonFault};
use portcullis_kube::manifest::{self, Manifest, ManifestText, parts};
use serde_json::Value;

use super::job;
use portcullis_document::yaml::{self, Dialect};
use portcullis_document::{Fault, Node, Position, Source};

/// One document of a text, or why it can't be used.
#[derive(Debug)]
pub struct Item {
    /// Its number among the documents of the text, from 0.
    pub index: usize,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// What it holds, or what is wrong.
    pub content: Result<Content, Box<Fault>>,
}

/// What a document holds.
#[derive(Debug)]
pub enum Content {
    /// An object.
    Object(Box<Manifest>),
    /// An `AdmissionReview`: a request about an object.
    Admission(Review),
    /// A `SubjectAccessReview`: a request for authorization.
    Access(Review),
}

/// A review, as a server would get it.
#[derive(Debug)]
pub struct Review {
    /// Its text, as strict JSON wherever it was written so.
    pub text: String,
    source: Arc<Source>,
    /// Lines before it; none where the text is not the author's own.
    before: Option<u64>,
}

impl Review {
    /// What is wrong with it, at its place in the file where that is known.
    pub fn fault(&self, index: usize, wrong: JsonFault) -> Fault {
        let position = self.before.map(|_| Position {
            line: u64::try_from(wrong.line).unwrap_or(u64::MAX),
            column: u64::try_from(wrong.column).unwrap_or(u64::MAX),
        });
        let path = format!("document {index}");
        let mut fault = self.source.fault(position, path, wrong.message);
        if let (Some(at), Some(before)) = (&mut fault.position, self.before) {
            at.line += before;
        }
        fault
    }
}

impl Item {
    /// The object, where nothing else makes sense.
    ///
    /// # Errors
    ///
    /// When it can't be read, or is a review.
    pub fn into_manifest(self) -> Result<Manifest, Box<Fault>> {
        let (review, kind) = match self.content? {
            Content::Object(manifest) => return Ok(*manifest),
            Content::Admission(review) => (review, ADMISSION.1),
            Content::Access(review) => (review, ACCESS.1),
        };
        let message = format!("expected an object, but this is a {kind}");
        let path = format!("document {}", self.index);
        Err(Box::new(review.source.fault(None, path, message)))
    }
}

/// Group and kind of reviews of objects.
const ADMISSION: (&str, &str) = ("admission.k8s.io", "AdmissionReview");
/// Group and kind of reviews of access.
const ACCESS: (&str, &str) = ("authorization.k8s.io", "SubjectAccessReview");

/// Whether a document is a review of this group and kind, of any version.
fn is_review(value: &Value, (group, kind): (&str, &str)) -> bool {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let version = text("apiVersion").and_then(|version| version.split_once('/'));
    text("kind") == Some(kind) && version.is_some_and(|(own, _)| own == group)
}

/// Reads all documents of a text, lists taken apart. `namespace` is for objects that name none.
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
    fn read(&mut self, part: &ManifestText<'_>) {
        let source = Source::text_named(self.label, part.text);
        let line = part.line();
        match yaml::parse_as(&source, Dialect::Kubernetes) {
            // As in kubectl, an empty document is skipped.
            Ok(document) if document.root.value == portcullis_document::Value::Null => {}
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
        let is_admission = is_review(&value, ADMISSION);
        if is_admission || is_review(&value, ACCESS) {
            let review = review(source, before, &value);
            let content = match is_admission {
                true => Content::Admission(review),
                false => Content::Access(review),
            };
            self.push(line, Ok(content));
            return;
        }
        let project = job::project(&value).map(str::to_owned);
        match Manifest::new(value, project.as_deref().unwrap_or(self.namespace)) {
            Ok(manifest) => self.push(line, Ok(Content::Object(Box::new(manifest)))),
            Err(wrong) => {
                let at = node.map_or(position, |n| n.nearest(&wrong.path).position);
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

    fn push(&mut self, line: u64, content: Result<Content, Box<Fault>>) {
        let index = self.items.len();
        self.items.push(Item {
            index,
            line,
            content,
        });
    }
}

/// A review: the author's own text where it is JSON by itself, so that a server would say the same of it.
fn review(source: &Arc<Source>, before: u64, value: &Value) -> Review {
    let own = source.text();
    // The text may hold a list of reviews, or YAML.
    let is_own = serde_json::from_str::<Value>(own).is_ok_and(|read| read == *value);
    Review {
        text: if is_own {
            own.to_owned()
        } else {
            value.to_string()
        },
        source: Arc::clone(source),
        before: is_own.then_some(before),
    }
}
