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

/// Whether one operation takes less text than these. Takes no more time than writing the shorter of the
/// two, and the operations.
pub(super) fn is_smaller(one: &impl Serialize, than: &[impl Serialize]) -> bool {
    let mut counted = Counter { left: usize::MAX };
    if serde_json::to_writer(&mut counted, than).is_err() {
        return false;
    }
    let size = usize::MAX - counted.left;
    let mut counter = Counter { left: size };
    // As a list of one, to be compared with a list.
    serde_json::to_writer(&mut counter, &[one]).is_ok() && counter.left > 0
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
    fn smaller_is_less_text() {
        let text = |n: usize| Value::from("x".repeat(n));
        for (one, other, smaller) in [(4, 5, true), (5, 5, false), (6, 5, false)] {
            assert_eq!(is_smaller(&text(one), &[text(other)]), smaller);
        }
        assert!(is_smaller(&text(2), &[text(0), text(0)]));
        assert!(!is_smaller(&text(0), &[] as &[Value]));
    }
}
