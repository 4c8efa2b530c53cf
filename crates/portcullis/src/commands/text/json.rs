//! JSON that is safe to print.
//!
//! JSON allows control characters of the second set (U+0080 to U+009F), deletes, and marks that change the
//! direction of writing unescaped. A terminal obeys some of them, so they are escaped; what is parsed
//! from it is the same.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::plain::is_odd;

/// The value on many lines, ended by a newline.
pub(in crate::commands) fn pretty(value: &Value) -> String {
    format!("{}\n", escaped(&format!("{value:#}")))
}

/// Anything on one line, without an end.
pub(in crate::commands) fn compact<T: Serialize>(value: &T) -> String {
    escaped(&serde_json::to_string(value).unwrap_or_default()).into_owned()
}

/// The same JSON without anything a terminal obeys. Such characters only stand in texts, where an escape
/// means the same.
pub(in crate::commands) fn escaped(json: &str) -> Cow<'_, str> {
    // Those below are escaped in texts already, or lay the JSON out.
    let is_unsafe = |c: char| c >= '\u{7f}' && is_odd(c);
    let may_be = |b: u8| b >= 0x7f;
    if !json.bytes().any(may_be) || !json.contains(is_unsafe) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_unsafe(c) {
            // All of them are in the basic plane.
            true => {
                let _ = write!(safe, "\\u{:04x}", u32::from(c));
            }
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        let odd = "a\u{9b}31m\u{7f}\u{202e}\u{2028}\u{200b}\u{85}\n\u{1b}é字😀";
        let value = json!({odd: [odd]});
        for text in [pretty(&value), compact(&value)] {
            let is_bad = |c: char| is_odd(c) && c != '\n';
            assert!(!text.contains(is_bad), "{text:?}");
            assert!(
                text.contains("\\u009b31m") && text.contains("é字😀"),
                "{text}"
            );
            let read: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read, value);
        }
        assert!(matches!(escaped("{\"a\": \"é\"}"), Cow::Borrowed(_)));
    }
}
