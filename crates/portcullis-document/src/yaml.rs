//! YAML to a tree.
//!
//! JSON is YAML, so the same reader takes both. Booleans are `true` and
//! `false` only, as in YAML 1.2. Duplicate keys, several documents, alias bombs
//! and deep nesting are errors here, with their place.

mod edit;
mod write;

use std::{collections::HashSet, sync::Arc};

use portcullis_core::{
    deep_stack::{self, Failure},
    json,
};
use serde::de::{Deserialize, Deserializer};
use serde_saphyr::{Error as YamlError, Spanned, options::DuplicateKeyPolicy};

use super::{
    document::{Document, Located, Node, Value, ValueVisitor},
    fault::{Fault, Faults},
    position::Position,
    source::Source,
};

pub use edit::{NotInPlace, replaced};
pub use write::write;

/// Deeper documents are rejected.
const MAX_DEPTH: usize = 64;
/// Larger manifests are rejected, also those that only aliases make so large.
const MAX_NODES: usize = 2_000_000;
/// So many are always read, however short the text is.
const SMALL_NODES: usize = 250_000;
/// The reader's own stack. It uses some 50 KiB a level when not optimized, more
/// in all than a thread of the caller may have left.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Reads the one document of a file that must hold a map.
pub fn parse_map(source: &Arc<Source>) -> Result<Document, Faults> {
    let document = parse(source)?;
    let fault = match &document.root.value {
        Value::Map(_) => return Ok(document),
        Value::Null => source.fault(None, "", "the file is empty"),
        other => {
            let found = other.kind();
            let message = format!("expected a map at the top of the file, found {found}");
            document.fault("", message)
        }
    };
    Err(fault.into())
}

/// Reads the one document of a file.
pub fn parse(source: &Arc<Source>) -> Result<Document, Faults> {
    parse_as(source, Dialect::Yaml)
}

/// How plain words and numbers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// As in YAML 1.2.
    Yaml,
    /// As Kubernetes reads manifests, which is YAML 1.1: `0644` is octal, and `yes`, `no`, `on` and
    /// `off` are booleans.
    Kubernetes,
}

/// Reads the one document of a text in this dialect.
pub fn parse_as(source: &Arc<Source>, dialect: Dialect) -> Result<Document, Faults> {
    let root = with_stack(|| read(source, dialect))
        .unwrap_or_else(|why| Err(source.fault(None, "", why).into()))?;
    refuse_repeated_keys(source, &root)?;
    Ok(Document {
        source: Arc::clone(source),
        root,
    })
}

/// Reads a manifest as Kubernetes does, without places. Faults don't quote it, since it may hold secrets.
///
/// The reader needs a large stack: see [`with_stack`].
///
/// # Errors
///
/// What is wrong, and where in the text.
pub fn manifest(text: &str) -> Result<serde_json::Value, Box<Fault>> {
    // JSON is YAML too, but is read much faster as what it is.
    if text.trim_start().starts_with('{')
        && let Some(value) = as_json(text)
    {
        return Ok(value);
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 2 * MAX_NODES,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: false,
        legacy_octal_numbers: true,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options(text, options) {
        Ok(value) => Ok(value),
        // What only JSON has: escapes of two halves, tabs.
        Err(error) => as_json(text).ok_or_else(|| {
            let fault = Fault::at("", message(&error, Quoting::Unquoted));
            Box::new(Fault {
                position: position(&error),
                ..fault
            })
        }),
    }
}

fn as_json(text: &str) -> Option<serde_json::Value> {
    let scanned = json::scan(text.as_bytes()).ok()?;
    serde_json::from_str(scanned.text()).ok()
}

/// Runs what reads documents on a stack that is large enough for the deepest; the error says why it could not.
///
/// # Errors
///
/// When the thread can't be started, or panics.
pub fn with_stack<T: Send>(read: impl FnOnce() -> T + Send) -> Result<T, String> {
    deep_stack::run(STACK_BYTES, read).map_err(|why| match why {
        Failure::Panicked => "the YAML parser failed on this document".to_owned(),
        why @ Failure::NoThread(_) => format!("cannot read it: {why}"),
    })
}

fn read(source: &Arc<Source>, dialect: Dialect) -> Result<Node, Faults> {
    // A list of manifests may be long; what only aliases make long may not.
    let nodes = source.text().len().clamp(SMALL_NODES, MAX_NODES);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: nodes,
            max_events: 4 * nodes,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: dialect == Dialect::Yaml,
        legacy_octal_numbers: dialect == Dialect::Kubernetes,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Yaml<Value>>(source.text(), options)
        .map(Into::into)
        .map_err(|error| yaml_fault(source, &error).into())
}

fn yaml_fault(source: &Arc<Source>, error: &YamlError) -> Fault {
    source.fault(position(error), "", message(error, Quoting::Quoted))
}

fn position(error: &YamlError) -> Option<Position> {
    error.location().map(|at| Position {
        line: at.line(),
        column: at.column(),
    })
}

/// Whether messages repeat what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Quoted,
    Unquoted,
}

/// What is wrong, in plain words.
fn message(error: &YamlError, quoting: Quoting) -> String {
    let is_quoted = quoting == Quoting::Quoted;
    let text = match error.without_snippet() {
        YamlError::AliasError { error, .. } => return message(error, quoting),
        YamlError::DuplicateMappingKey { key: Some(key), .. } if is_quoted => {
            return format!("the key `{key}` is given twice");
        }
        YamlError::DuplicateMappingKey { .. } => "a key is given twice",
        YamlError::MultipleDocuments { .. } => {
            "more than one document in the file: remove the `---` and what follows, or split the file"
        }
        YamlError::Budget { breach, .. } => budget_words(breach),
        YamlError::AliasReplayLimitExceeded { .. }
        | YamlError::AliasExpansionLimitExceeded { .. }
        | YamlError::AliasReplayStackDepthExceeded { .. } => "too many aliases",
        YamlError::RecursiveReferencesRequireWeakTypes { .. } => "an alias inside its own anchor",
        YamlError::UnknownAnchor { .. } => "an alias to an anchor that does not exist",
        YamlError::NonFiniteFloat { value, .. } if is_quoted => {
            return format!("`{value}` is not a finite number: put it in quotes to use it as text");
        }
        YamlError::NonFiniteFloat { .. } => "a number that is not finite",
        YamlError::Unexpected {
            expected: "string scalar",
            ..
        } => "a key must be text",
        YamlError::ExternalMessage { msg, .. } if is_quoted => {
            return format!("not valid YAML: {msg}");
        }
        YamlError::Eof { .. } => "not valid YAML: the file ends too early",
        other if is_quoted => return format!("not valid YAML: {}", words(other)),
        _ => "not valid YAML",
    };
    text.to_owned()
}

fn budget_words(breach: &serde_saphyr::budget::BudgetBreach) -> &'static str {
    use serde_saphyr::budget::BudgetBreach;
    match breach {
        BudgetBreach::Depth { .. } => "nested too deeply",
        BudgetBreach::Documents { .. } => "more than one document in the file",
        BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => "too many aliases",
        _ => "the document is too large, or its aliases make it so",
    }
}

/// The text of an error without the place, which is given separately.
fn words(error: &YamlError) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    match line.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest.to_owned(),
        _ => line.to_owned(),
    }
}

/// `1: a` and `"1": b` differ in YAML, but are the same key here.
fn refuse_repeated_keys(source: &Arc<Source>, node: &Node) -> Result<(), Faults> {
    match &node.value {
        Value::Seq(items) => items
            .iter()
            .try_for_each(|item| refuse_repeated_keys(source, item)),
        Value::Map(entries) => {
            let mut seen = HashSet::with_capacity(entries.len());
            for (key, value) in entries {
                if !seen.insert(key.as_str()) {
                    let message = format!("the key `{}` is given twice", key.value);
                    return Err(source.fault(Some(key.position), "", message).into());
                }
                refuse_repeated_keys(source, value)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A located value as the YAML reader hands it out.
struct Yaml<T>(Located<T>);

impl<T> From<Yaml<T>> for Located<T> {
    fn from(yaml: Yaml<T>) -> Self {
        yaml.0
    }
}

impl<T> Yaml<T> {
    fn from_spanned(spanned: Spanned<T>) -> Self {
        let at = spanned.referenced;
        Self(Located {
            value: spanned.value,
            position: Position {
                line: at.line(),
                column: at.column(),
            },
        })
    }
}

impl<'de> Deserialize<'de> for Yaml<String> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::<String>::deserialize(deserializer).map(Self::from_spanned)
    }
}

impl<'de> Deserialize<'de> for Yaml<Value> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<YamlValue>::deserialize(deserializer)?;
        Ok(Self::from_spanned(Spanned {
            value: spanned.value.0,
            referenced: spanned.referenced,
            defined: spanned.defined,
        }))
    }
}

struct YamlValue(Value);

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = ValueVisitor::<Yaml<String>, Yaml<Value>>::new();
        deserializer.deserialize_any(visitor).map(Self)
    }
}
