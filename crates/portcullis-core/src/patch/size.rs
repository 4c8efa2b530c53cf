//! How much text something takes as JSON, without writing it.

use std::io;

use serde::Serialize;

/// The operation that replaces what is at a place, over a borrowed value.
#[derive(Serialize)]
#[serde(tag = "op", rename = "replace")]
pub(super) struct Replacement<'a, V: ?Sized> {
    path: &'a str,
    value: &'a V,
}

impl<'a, V: ?Sized> Replacement<'a, V> {
    /// Puts this value there.
    pub(super) fn new(path: &'a str, value: &'a V) -> Self {
        Self { path, value }
    }
}

/// How many bytes these take, if it is no more than `most`.
pub(super) fn within(most: usize, operations: &[impl Serialize]) -> Option<usize> {
    let mut counter = Counter { left: most };
    serde_json::to_writer(&mut counter, operations).ok()?;
    Some(most - counter.left)
}

/// Counts down what is written, and ends the writing when nothing is left.
struct Counter {
    left: usize,
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.checked_sub(bytes.len());
        self.left = left.ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::patch::PatchOperation;

    #[test]
    fn a_replacement_is_written_like_the_operation() {
        let value = json!({"a\"": [1.5, "\u{1}é"]});
        let operation = PatchOperation::Replace {
            path: "/x".to_owned(),
            value: value.clone(),
        };
        let written = serde_json::to_string(&Replacement::new("/x", &value)).unwrap();
        assert_eq!(written, serde_json::to_string(&operation).unwrap());
    }

    #[test]
    fn what_is_too_long_is_not_counted() {
        let text = [Value::from("xy"), json!({"é": 1})];
        let size = serde_json::to_string(&text).unwrap().len();
        assert_eq!(within(usize::MAX, &text), Some(size));
        assert_eq!(within(size, &text), Some(size));
        assert_eq!(within(size - 1, &text), None);
        assert_eq!(within(0, &text), None);
    }
}
