//! Errors with the path of the fault in the object.
//!
//! Reading does not track its position, for speed. Only after a failure is the
//! text read a second time, through a reader that does.

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use super::field::{Field, Read};

/// The path of the object itself.
const WHOLE: &str = "object";

/// An object that is not shaped as its kind has to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub(crate) struct ShapeError {
    /// Where, such as `spec.containers[1].image`; `object` for the whole.
    pub path: String,
    /// What is wrong there, such as `expected a string, found a number`.
    pub message: String,
}

/// Reads a view from JSON text.
pub(crate) fn read_text<'a, T: Field<'a>>(text: &'a str) -> Result<T, ShapeError> {
    serde_json::from_str(text)
        .map(|Read(view)| view)
        .map_err(|error| {
            let mut again = serde_json::Deserializer::from_str(text);
            locate::<T, _>(&mut again, &error)
        })
}

/// Reads a view from a parsed document.
pub(crate) fn read_value<'a, T: Field<'a>>(value: &'a Value) -> Result<T, ShapeError> {
    Read::deserialize(value)
        .map(|Read(view)| view)
        .map_err(|error| locate::<T, _>(value, &error))
}

/// Reads once more to find the path; `first` stands in for faults outside of
/// the value itself, such as text after its end.
fn locate<'a, T, D>(deserializer: D, first: &serde_json::Error) -> ShapeError
where
    T: Field<'a>,
    D: Deserializer<'a, Error = serde_json::Error>,
{
    match serde_path_to_error::deserialize::<_, Read<T>>(deserializer) {
        Err(error) if error.inner().is_data() => ShapeError {
            path: match error.path().to_string() {
                root if root == "." => WHOLE.to_owned(),
                path => path,
            },
            message: without_position(error.inner()),
        },
        _ => ShapeError {
            path: WHOLE.to_owned(),
            message: format!("not valid JSON: {first}"),
        },
    }
}

/// The message alone: a path says more than a line and a column.
fn without_position(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if message.ends_with(&position) {
        message.truncate(message.len() - position.len());
    }
    message
}
