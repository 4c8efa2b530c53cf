//! The objects and reviews in a text, each with its position.
//!
//! The text is cut at its `---` lines first, so that a document that can't be parsed doesn't affect the
//! others. YAML allows no such line inside anything.

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;

use portcullis_core::json::{self, JsonFault};
use portcullis_kube::manifest::{self, Manifest, ManifestText, parts};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::job::{self, Submission, Unsubmittable};
use super::pieces::{Piece, Pieces};
use portcullis_document::yaml::{self, Dialect};
use portcullis_document::{Fault, Node, Position, Source};

/// Takes documents one after the other; says when it wants no more.
pub type TakeItem<'a> = dyn FnMut(Item) -> ControlFlow<()> + Send + 'a;

/// One document of a text, or why it can't be used.
#[derive(Debug)]
pub struct Item {
    /// Its number among the documents of the text, from 0.
    pub index: usize,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// What it holds, or what is wrong.
    pub content: Result<Content, Box<Fault>>,
    /// The object as it is written, without what an API server fills in, where it was asked for.
    pub written: Option<Box<Value>>,
    /// It has neither `apiVersion` nor `kind`: it is something other than an object of Kubernetes.
    pub is_other: bool,
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
    read_all_documents(source, namespace, false)
}

/// The same, with each object as it is written too.
pub fn read_written_documents(source: &Source, namespace: &str) -> Vec<Item> {
    read_all_documents(source, namespace, true)
}

fn read_all_documents(source: &Source, namespace: &str, keeps_written: bool) -> Vec<Item> {
    let mut items = Vec::new();
    let mut reader = Reader {
        label: source.label(),
        namespace,
        count: 0,
        keeps_written,
        take: &mut |item| {
            items.push(item);
            ControlFlow::Continue(())
        },
    };
    // It never says that it has enough.
    let _ = reader.read_all(source, 0);
    items
}

/// The same for a text of any length, one document after the other, so that only some of the text and one document are
/// in memory. Those of a list are read together, and become objects one after the other.
///
/// # Errors
///
/// When the text can't be read, is not text, or has a document that is too large. The documents before were handed over.
pub fn each_document(
    label: &str,
    from: impl Read,
    namespace: &str,
    take: &mut TakeItem<'_>,
) -> Result<ControlFlow<()>, Box<Fault>> {
    let mut pieces = Pieces::new(label, from);
    let mut reader = Reader {
        label,
        namespace,
        count: 0,
        keeps_written: false,
        take,
    };
    while let Some(Piece { source, before }) = pieces.next()? {
        if reader.read_all(&source, before).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

struct Reader<'a, 'b> {
    label: &'a str,
    namespace: &'a str,
    /// How many documents were handed over.
    count: usize,
    keeps_written: bool,
    take: &'a mut TakeItem<'b>,
}

impl Reader<'_, '_> {
    /// Reads the documents of a text that begins after so many lines of another, on one thread with a large stack.
    fn read_all(&mut self, source: &Source, before: u64) -> ControlFlow<()> {
        let read = yaml::with_stack(|| {
            parts(source.text()).into_iter().try_for_each(|part| {
                let before = before + part.before;
                self.read(&ManifestText { before, ..part })
            })
        });
        read.unwrap_or_else(|why| {
            let fault = source.fault(None, "", why);
            self.fail(fault, before, before + 1)
        })
    }

    fn read(&mut self, part: &ManifestText<'_>) -> ControlFlow<()> {
        let source = Source::text_named(self.label, part.text);
        let line = part.line();
        match yaml::parse_as(&source, Dialect::Kubernetes) {
            // As in kubectl, an empty document is skipped.
            Ok(document) if document.root.value == portcullis_document::Value::Null => {
                ControlFlow::Continue(())
            }
            Ok(document) => self.document(&source, part.before, &document.root),
            // What only JSON has: escapes of two halves, tabs.
            Err(faults) => match json::scan(part.text.as_bytes()) {
                Ok(scanned) => {
                    let value = serde_json::from_str(scanned.text()).unwrap_or_default();
                    self.take(&source, part.before, None, value, true)
                }
                Err(_) => {
                    if let Some(values) = values_in_a_row(part) {
                        return values.iter().try_for_each(|value| self.read(value));
                    }
                    let fault = faults
                        .into_iter()
                        .next()
                        .unwrap_or_else(|| source.fault(None, "", "the document cannot be read"));
                    self.fail(fault, part.before, line)
                }
            },
        }
    }

    /// Takes an object, or the objects of a list, each of which becomes JSON only when it is its turn.
    fn document(&mut self, source: &Arc<Source>, before: u64, root: &Node) -> ControlFlow<()> {
        let Some((of, items)) = list(root) else {
            return self.take(source, before, Some(root), root.to_json(), true);
        };
        let version = root.get("apiVersion").map(|version| version.to_json());
        items.iter().try_for_each(|node| {
            let mut item = node.to_json();
            manifest::complete_item(&mut item, of, version.as_ref());
            self.take(source, before, Some(node), item, false)
        })
    }

    /// Takes an object, or the objects of a list. Whether it is all of its document matters for reviews.
    fn take(
        &mut self,
        source: &Arc<Source>,
        before: u64,
        node: Option<&Node>,
        value: Value,
        is_whole: bool,
    ) -> ControlFlow<()> {
        if let Some(items) = manifest::list_items(&value) {
            return items.into_iter().enumerate().try_for_each(|(index, item)| {
                let node = node.and_then(|n| n.at_path(&format!("items[{index}]")));
                self.take(source, before, node, item, false)
            });
        }
        let position = node.map_or(Position { line: 1, column: 1 }, |n| n.position);
        let line = before + position.line;
        match Submission::read(&value) {
            Ok(None) => {}
            Ok(Some(submission)) => {
                return self.submission(source, before, node, submission);
            }
            Err(wrong) => {
                let fault = submission_fault(source, node, &wrong);
                return self.fail(fault, before, line);
            }
        }
        let is_admission = is_review(&value, ADMISSION);
        if is_admission || is_review(&value, ACCESS) {
            let review = review(source, before, &value, is_whole);
            let content = match is_admission {
                true => Content::Admission(review),
                false => Content::Access(review),
            };
            return self.push(line, Ok(content));
        }
        let is_other = !["apiVersion", "kind"]
            .iter()
            .any(|key| value.get(key).is_some());
        let project = job::project(&value).map(str::to_owned);
        let written = self.keeps_written.then(|| Box::new(value.clone()));
        match Manifest::new(value, project.as_deref().unwrap_or(self.namespace)) {
            Ok(manifest) => {
                let content = Ok(Content::Object(Box::new(manifest)));
                self.push_item(line, content, written, false)
            }
            Err(wrong) => {
                let at = node.map_or(position, |n| n.nearest(&wrong.path).position);
                let fault = source.fault(Some(at), "", wrong.message);
                let (line, fault) = self.placed(fault, before, line);
                self.push_item(line, Err(fault), None, is_other)
            }
        }
    }

    /// Takes the jobs of a submission.
    fn submission(
        &mut self,
        source: &Arc<Source>,
        before: u64,
        node: Option<&Node>,
        submission: Submission,
    ) -> ControlFlow<()> {
        match submission {
            Submission::Job(job) => self.take(source, before, node, job, false),
            Submission::Pipeline(jobs) => {
                jobs.into_iter().enumerate().try_for_each(|(index, job)| {
                    let node = node.and_then(|n| n.at_path(&format!("jobs[{index}]")));
                    self.take(source, before, node, job, false)
                })
            }
            Submission::CiFile => {
                let at = node.map(|node| node.position);
                let line = before + at.map_or(1, |at| at.line);
                self.fail(source.fault(at, "", CI_FILE), before, line)
            }
        }
    }

    fn fail(&mut self, fault: Fault, before: u64, line: u64) -> ControlFlow<()> {
        let (line, fault) = self.placed(fault, before, line);
        self.push(line, Err(fault))
    }

    /// A fault of the next document, at its place in the whole text, and its line there.
    fn placed(&self, mut fault: Fault, before: u64, line: u64) -> (u64, Box<Fault>) {
        if let Some(at) = &mut fault.position {
            at.line += before;
        }
        fault.path = format!("document {}", self.count);
        let line = fault.position.map_or(line, |at| at.line);
        (line, Box::new(fault))
    }

    fn push(&mut self, line: u64, content: Result<Content, Box<Fault>>) -> ControlFlow<()> {
        self.push_item(line, content, None, false)
    }

    fn push_item(
        &mut self,
        line: u64,
        content: Result<Content, Box<Fault>>,
        written: Option<Box<Value>>,
        is_other: bool,
    ) -> ControlFlow<()> {
        let index = self.count;
        self.count += 1;
        (self.take)(Item {
            index,
            line,
            content,
            written,
            is_other,
        })
    }
}

/// The values of a text that has several in JSON, one after the other, as kubectl reads them. Behind what can't be read,
/// everything is one value.
fn values_in_a_row<'t>(part: &ManifestText<'t>) -> Option<Vec<ManifestText<'t>>> {
    if !part.text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(part.text).into_iter::<IgnoredAny>();
    let (mut found, mut start) = (Vec::new(), 0);
    while start < part.text.len() {
        let is_read = matches!(values.next(), Some(Ok(_)));
        let end = match is_read {
            true => values.byte_offset(),
            false => part.text.len(),
        };
        let (before, text) = (part.text.get(..start)?, part.text.get(start..end)?);
        let lines = u64::try_from(before.matches('\n').count()).ok()?;
        if !text.trim().is_empty() {
            found.push(ManifestText {
                text,
                before: part.before + lines,
            });
        }
        start = end;
    }
    (found.len() > 1).then_some(found)
}

/// Why a CI file is not judged.
const CI_FILE: &str = "a CI file does not say the project, ref and user of its jobs: write the body that submits them, {project, ref, user, jobs: [...]}";

/// What is wrong with a submission, at the place of the first fault.
fn submission_fault(source: &Source, node: Option<&Node>, wrong: &Unsubmittable) -> Fault {
    let first = wrong.faults.first();
    let at = node.zip(first);
    let at = at.map(|(node, fault)| node.nearest(&fault.path).position);
    let each = wrong.faults.iter().map(ToString::to_string);
    let all = each.collect::<Vec<_>>().join("; ");
    source.fault(at, "", format!("invalid {}: {all}", wrong.what))
}

/// What a list is of, and its items, if this is a list.
fn list(root: &Node) -> Option<(&str, &[Node])> {
    use portcullis_document::Value as Located;
    let Located::Str(kind) = &root.get("kind")?.value else {
        return None;
    };
    let of = manifest::listed_kind(kind)?;
    match root.get("items").map(|items| &items.value) {
        None | Some(Located::Null) if of.is_empty() => Some((of, &[])),
        Some(Located::Seq(items)) => Some((of, items)),
        _ => None,
    }
}

/// A review: the author's own text where it is JSON by itself, so that a server would say the same of it.
fn review(source: &Arc<Source>, before: u64, value: &Value, is_whole: bool) -> Review {
    let own = source.text();
    // The text may hold a list of reviews, or YAML.
    let is_own = is_whole && serde_json::from_str::<Value>(own).is_ok_and(|read| read == *value);
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
