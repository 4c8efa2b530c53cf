//! A JSON object as it travels through the chain: text first, parsed only when somebody looks.
//!
//! A [`Document`] keeps the text it came as. Its tree is built on the first look, copied on the
//! first change, and compared with the original to get the patch. A typed view may be cached, so
//! that several plug-ins reading the same object pay for one reading; a change drops it.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::patch::{self, PatchOperation};

/// A JSON document whose changes are known.
#[derive(Debug, Clone)]
pub struct Document {
    text: Arc<str>,
    original: OnceLock<Arc<Value>>,
    current: Option<Arc<Value>>,
    revision: u32,
    view: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// What a view is read from: the text as it came, or the tree after a change.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Unchanged text.
    Text(&'a str),
    /// The tree as it is now.
    Tree(&'a Value),
}

/// Text that is no JSON a tree can be made of.
#[derive(Debug, Clone, thiserror::Error)]
#[error("not valid JSON: {0}")]
pub struct DocumentError(String);

impl Document {
    /// A document of this text. The text is looked at when first needed, so doors check it first
    /// ([`crate::json::scan`]).
    pub fn from_text(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            original: OnceLock::new(),
            current: None,
            revision: 0,
            view: OnceLock::new(),
        }
    }

    /// A document of text that a JSON parser has passed over.
    pub fn from_raw(raw: &RawValue) -> Self {
        Self::from_text(raw.get())
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

    /// The tree, to be changed.
    pub fn value_mut(&mut self) -> Result<&mut Value, DocumentError> {
        let current = match self.current.take() {
            Some(current) => current,
            None => Arc::clone(self.parsed()?),
        };
        self.view = OnceLock::new();
        self.revision = self.revision.wrapping_add(1);
        Ok(Arc::make_mut(self.current.insert(current)))
    }

    /// Reads the document as it is now into `T` with `read`, once for everybody who asks for the
    /// same type. A document keeps one view; asking for another type reads it again each time.
    pub fn view<T, E>(&self, read: impl FnOnce(Source<'_>) -> Result<T, E>) -> Result<Arc<T>, E>
    where
        T: Any + Send + Sync,
    {
        if let Some(cached) = self.view.get()
            && let Ok(view) = Arc::clone(cached).downcast::<T>()
        {
            return Ok(view);
        }
        let source = match &self.current {
            Some(current) => Source::Tree(current),
            None => Source::Text(&self.text),
        };
        let view = Arc::new(read(source)?);
        let shared: Arc<dyn Any + Send + Sync> = view.clone();
        let _ = self.view.set(shared);
        Ok(view)
    }

    /// How often somebody asked for the tree to change it.
    pub(crate) fn revision(&self) -> u32 {
        self.revision
    }

    /// Whether somebody changed the tree into something else than it was.
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
    fn a_view_is_read_once_and_again_after_a_change() {
        fn length(source: Source<'_>) -> Result<usize, DocumentError> {
            Ok(match source {
                Source::Text(text) => text.len(),
                Source::Tree(tree) => tree.as_object().unwrap().len() + 1000,
            })
        }
        let mut d = Document::from_text(r#"{"a":1}"#);
        assert_eq!(*d.view(length).unwrap(), 7);
        assert_eq!(*d.view(|_| Err::<usize, ()>(())).unwrap(), 7);
        d.value_mut().unwrap()["b"] = json!(2);
        assert_eq!(*d.view(length).unwrap(), 1002);
    }

    #[test]
    fn text_that_is_no_json_is_an_error_and_no_panic() {
        let mut d = Document::from_text("{");
        assert!(d.value().is_err());
        assert!(d.value_mut().is_err());
        assert!(d.patch().is_empty());
    }
}
