//! Views of documents, in whatever form a document is, and the name of an object.
//!
//! What can't be read is an error here: `read` makes it a denial, and words that.

use std::borrow::Cow;

use portcullis_core::{Attributes, Document, Source};
use serde_json::Value;

use crate::pod::field::Field;
use crate::pod::view::view;
use crate::pod::{Metadata, ShapeError, read_text, read_value};

/// A view of a document.
pub(crate) fn view<'a, T: Field<'a>>(document: &'a Document) -> Result<T, ShapeError> {
    match document.source() {
        Source::Text(text) => read_text(text),
        Source::Tree(tree) => read_value(tree),
    }
}

/// The object's own name, or the prefix it will get; none if it has neither.
pub(crate) fn name(request: &Attributes) -> Option<String> {
    let named: Named<'_> = view(request.object.as_ref()?).ok()?;
    let Metadata {
        name,
        generate_name,
        ..
    } = named.metadata;
    [name, generate_name]
        .into_iter()
        .find(|name| !name.is_empty())
        .map(Cow::into_owned)
}

/// The name of an object of the cluster; empty if it has none.
pub(crate) fn name_in(object: &Value) -> &str {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default()
}

view! {
    /// Anything with metadata.
    pub(crate) struct Named<'a> {
        /// Metadata.
        metadata: Metadata<'a> = "metadata",
    }
}
