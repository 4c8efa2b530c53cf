//! Names of objects and namespaces: which are invalid.
//!
//! Letters are not limited to those of DNS: names of roles and requests may have `:`. What could make two
//! names look like one, or break a line, is rejected.

use std::borrow::Cow;

use portcullis_core::text::{is_odd, printable};

/// How long a name may be.
const MAX_NAME: usize = 253;
/// How long the name of a namespace may be.
const MAX_NAMESPACE: usize = 63;

/// Whether this can be the name of an object.
///
/// # Errors
///
/// Why not, without the name itself.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    if name.len() > MAX_NAME {
        return Err(format!("the name is longer than {MAX_NAME} bytes"));
    }
    // Most names are plain, which is quickly seen: agents are identified with every request.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
    if !name.bytes().all(is_plain) && name.contains(|c| matches!(c, '/' | '%') || is_odd(c)) {
        return Err("invalid name: `/`, `%` and control characters are not allowed".to_owned());
    }
    if matches!(name, "." | "..") {
        return Err("invalid name: `.` and `..` are not allowed".to_owned());
    }
    Ok(())
}

/// Whether this can be the name of a namespace.
///
/// # Errors
///
/// Why not, without the name itself.
pub fn check_namespace(namespace: &str) -> Result<(), String> {
    if namespace.is_empty() {
        return Err("the namespace is missing".to_owned());
    }
    if namespace.len() > MAX_NAMESPACE {
        return Err(format!(
            "the namespace is longer than {MAX_NAMESPACE} bytes"
        ));
    }
    let odd = |letter: char| is_odd(letter) || matches!(letter, '/' | '%' | ':');
    if namespace.contains(odd) {
        return Err(
            "invalid namespace: `/`, `%`, `:` and control characters are not allowed".to_owned(),
        );
    }
    if matches!(namespace, "." | "..") {
        return Err("invalid namespace: `.` and `..` are not allowed".to_owned());
    }
    Ok(())
}

/// A name as far as it can be one, on one line.
pub(crate) fn printable_name(text: &str) -> Cow<'_, str> {
    printable(clip(text))
}

/// The beginning of a text, if it is longer than any name.
pub(crate) fn clip(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_NAME))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_break_a_line_or_a_path_are_refused() {
        for name in ["a", "a.b-c", "system:x", "gardener.cloud:a:b", "é"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let long = "a".repeat(254);
        for name in [
            "",
            "a/b",
            "a%2fb",
            "a\nb",
            "a\u{202e}b",
            "a\u{0}",
            ".",
            "..",
            &long,
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
            assert!(check_namespace(name).is_err(), "{name:?}");
        }
        assert!(check_namespace("a:b").is_err() && check_namespace("a-b").is_ok());
    }
}
