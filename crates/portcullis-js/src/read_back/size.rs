//! Estimates how much memory values take.

use portcullis_core::{Look, Tree};
use serde_json::Value;

/// About how many bytes a part takes, without reading what has not been read.
pub(super) fn tree_size(tree: &Tree) -> usize {
    if let Some(text) = tree.unread_text() {
        return 2 * text.len();
    }
    ANY + match tree.look() {
        Look::String(text) => text.len(),
        Look::List(list) => list.iter().map(tree_size).sum(),
        Look::Object(members) => members
            .iter()
            .map(|(key, v)| key.len() + tree_size(v))
            .sum(),
        _ => 0,
    }
}

/// What any value takes.
const ANY: usize = 32;

/// About how many bytes a value takes.
pub(crate) fn size(value: &Value) -> usize {
    ANY + match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(map) => map.iter().map(|(key, v)| key.len() + size(v)).sum(),
        _ => 0,
    }
}
