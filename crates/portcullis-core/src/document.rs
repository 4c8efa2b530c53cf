//! A JSON object as it travels through the chain: text first, parsed only on access.
//!
//! A [`Document`] keeps the text it came as. Its tree is built on the first look, copied on the
//! first change, and compared with the original to get the patch. Typed views are read from
//! [`Document::source`], so that looking at an unchanged object builds no tree at all.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::Scanned;
use crate::patch::{self, PatchOperation};
use crate::tree::{IndexedText, Tree};

/// A JSON document whose changes are known.
#[derive(Debug, Clone)]
pub struct Document {
    text: Arc<str>,
    /// Where its parts are, if that is known.
    indexed: Option<IndexedText>,
    original: OnceLock<Arc<Value>>,
    current: Option<Arc<Value>>,
    revision: u32,
}

/// A document in its current form: the text as it came, or the tree after a change.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Unchanged text.
    Text(&'a str),
    /// The tree as it is now.
    Tree(&'a Value),
}

/// Text that is not JSON, or that no tree can be built from.
#[derive(Debug, Clone, thiserror::Error)]
#[error("not valid JSON: {0}")]
pub struct DocumentError(String);

impl Document {
    /// A document of this text. The text is looked at when first needed, so doors check it first
    /// ([`crate::json::scan`]).
    pub fn from_text(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            indexed: None,
            original: OnceLock::new(),
            current: None,
            revision: 0,
        }
    }

    /// A document of text that a JSON parser has passed over.
    pub fn from_raw(raw: &RawValue) -> Self {
        Self::from_text(raw.get())
    }

    /// A document of a part of a scanned text.
    pub fn from_scanned(scanned: &Scanned<'_>, part: &str) -> Self {
        let document = Self::from_text(part);
        let text = Arc::clone(&document.text);
        Self {
            indexed: IndexedText::new(text, scanned.index(), scanned.offset_of(part)),
            ..document
        }
    }

    /// A document of this tree.
    pub fn from_value(value: Value) -> Self {
        let document = Self::from_text(value.to_string());
        let _ = document.original.set(Arc::new(value));
        document
    }

    /// The text as it came, without changes.
    pub fn original_text(&self) -> &str {
        &self.text
    }

    /// The tree as it came, without changes.
    pub fn original(&self) -> Result<&Value, DocumentError> {
        self.parsed().map(AsRef::as_ref)
    }

    /// The tree as it is now.
    pub fn value(&self) -> Result<&Value, DocumentError> {
        match &self.current {
            Some(current) => Ok(current),
            None => self.original(),
        }
    }

    /// The document as it is now, parsed from the text only as far as it is read.
    pub fn tree(&self) -> Result<Tree, DocumentError> {
        match (&self.current, &self.indexed) {
            (Some(current), _) => Ok(Tree::from(current.as_ref())),
            (None, Some(indexed)) => Ok(indexed.tree()),
            (None, None) => self.original().map(Tree::from),
        }
    }

    /// Puts another tree in place of the one that is there now.
    pub fn replace(&mut self, value: Value) -> Result<(), DocumentError> {
        self.parsed()?;
        self.revision = self.revision.wrapping_add(1);
        self.current = Some(Arc::new(value));
        Ok(())
    }

    /// The tree, to be changed.
    pub fn value_mut(&mut self) -> Result<&mut Value, DocumentError> {
        let current = match self.current.take() {
            Some(current) => current,
            None => Arc::clone(self.parsed()?),
        };
        self.revision = self.revision.wrapping_add(1);
        Ok(Arc::make_mut(self.current.insert(current)))
    }

    /// The document in its current form: cheapest for readers that accept both.
    pub fn source(&self) -> Source<'_> {
        match &self.current {
            Some(current) => Source::Tree(current),
            None => Source::Text(&self.text),
        }
    }

    /// The original tree and the current one, if it was changed.
    pub(crate) fn trees(&self) -> Option<(&Arc<Value>, &Arc<Value>)> {
        self.original.get().zip(self.current.as_ref())
    }

    /// How often the tree was requested for modification.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Whether the tree differs from the original.
    pub fn is_changed(&self) -> bool {
        match (&self.current, self.original.get()) {
            (Some(current), Some(original)) => current != original,
            _ => false,
        }
    }

    /// The changes, as an RFC 6902 patch of the original. Empty when there are none.
    pub fn patch(&self) -> Vec<PatchOperation> {
        match (&self.current, self.original.get()) {
            (Some(current), Some(original)) => patch::diff(original, current),
            _ => Vec::new(),
        }
    }

    fn parsed(&self) -> Result<&Arc<Value>, DocumentError> {
        if let Some(value) = self.original.get() {
            return Ok(value);
        }
        let value = serde_json::from_str(&self.text).map_err(|e| DocumentError(e.to_string()))?;
        Ok(self.original.get_or_init(|| Arc::new(value)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_leaves_the_original_and_shows_in_the_patch() {
        let mut d = Document::from_text(r#"{"a":1}"#);
        d.value_mut().unwrap()["b"] = json!(2);
        assert!(d.is_changed());
        assert_eq!(d.original().unwrap(), &json!({"a": 1}));
        assert_eq!(d.value().unwrap(), &json!({"a": 1, "b": 2}));
        assert_eq!(d.patch().len(), 1);
    }

    #[test]
    fn a_change_that_is_undone_is_no_change() {
        let mut d = Document::from_text(r#"{"a":1}"#);
        d.value_mut().unwrap()["a"] = json!(2);
        d.value_mut().unwrap()["a"] = json!(1);
        assert!(!d.is_changed());
        assert!(d.patch().is_empty());
    }

    #[test]
    fn the_source_is_the_text_until_a_change() {
        let mut d = Document::from_text(r#"{"a":1}"#);
        assert!(matches!(d.source(), Source::Text(r#"{"a":1}"#)));
        d.value_mut().unwrap()["b"] = json!(2);
        assert!(matches!(d.source(), Source::Tree(tree) if tree["b"] == 2));
    }

    #[test]
    fn text_that_is_no_json_is_an_error_and_no_panic() {
        let mut d = Document::from_text("{");
        assert!(d.value().is_err());
        assert!(d.value_mut().is_err());
        assert!(d.patch().is_empty());
    }
}
