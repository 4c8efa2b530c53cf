//! How the messages of the checks are built.
//!
//! Only runs once something is wrong, so it may allocate.

use std::{collections::BTreeSet, fmt::Write};

/// `one` for a single thing, else `many`.
pub(super) fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// `"a", "b"`: in quotes but, as upstream, without escapes.
pub(super) fn quoted<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut list = String::new();
    for item in items {
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push('"');
        list.push_str(item.as_ref());
        list.push('"');
    }
    list
}

/// `container "a"` or `containers "a", "b"`.
pub(super) fn containers(names: &[&str]) -> String {
    let noun = plural(names.len(), "container", "containers");
    format!("{noun} {}", quoted(names))
}

/// Where something is set: on the pod itself, some containers, or both.
#[derive(Default)]
pub(super) struct Setters<'a> {
    pub(super) pod: bool,
    pub(super) containers: Vec<&'a str>,
}

impl Setters<'_> {
    pub(super) fn is_empty(&self) -> bool {
        !self.pod && self.containers.is_empty()
    }

    /// `pod`, `container "a"`, or `pod and containers "a", "b"`.
    pub(super) fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if self.pod {
            parts.push("pod".to_owned());
        }
        if !self.containers.is_empty() {
            parts.push(containers(&self.containers));
        }
        parts
    }

    pub(super) fn joined(&self) -> String {
        self.parts().join(" and ")
    }
}

/// Distinct values, sorted; empty sets take no memory.
pub(super) type Values<'a> = BTreeSet<&'a str>;

/// Text in double quotes with Go's escapes, as its `%q` writes it.
pub(crate) fn go_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if is_printable(character) => quoted.push(character),
            _ => {
                let code = u32::from(character);
                // writing to a String cannot fail
                let _ = match code {
                    0..0x80 => write!(quoted, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
                    _ => write!(quoted, "\\U{code:08x}"),
                };
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Whether debug output shows the character as itself. It is tried behind
/// another one, since a combining mark in front is always escaped.
fn is_printable(character: char) -> bool {
    let probe: String = ['a', character].iter().collect();
    probe.escape_debug().count() == 2 || matches!(character, '\'')
}

#[cfg(test)]
mod tests {
    use super::{go_quoted, quoted};

    #[test]
    fn lists_are_quoted_item_by_item() {
        assert_eq!(quoted([""; 0]), "");
        assert_eq!(quoted(["a"]), r#""a""#);
        assert_eq!(quoted(["a", "b\"c"]), r#""a", "b"c""#);
        assert_eq!(quoted(["", ""]), r#""", """#);
    }

    #[test]
    fn quoting_follows_go() {
        for (text, expected) in [
            ("plain 'x'", r#""plain 'x'""#),
            ("a\"b\\c\n\t\0\u{7f}", r#""a\"b\\c\n\t\x00\x7f""#),
            ("é\u{301}世\u{1f600}", "\"é\u{301}世\u{1f600}\""),
            (
                "\u{a0}\u{200b}\u{feff}\u{e000}",
                r#""\u00a0\u200b\ufeff\ue000""#,
            ),
            ("\u{10ffff}", r#""\U0010ffff""#),
        ] {
            assert_eq!(go_quoted(text), expected);
        }
    }
}
