//! JSON data as YAML, in block style.
//!
//! A string is unquoted only where no reader of any YAML version takes it for something else. The
//! serializer of the library that reads YAML is not used: it leaves marks of the direction of writing, and
//! zero-width characters, unescaped in plain scalars, and strings of requests are shown on terminals.

use std::fmt::Write;

use serde_json::Value;

use super::plain::is_odd;

/// Words that some readers take for booleans, nulls or numbers.
const RESERVED: &[&str] = &[
    "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf",
];

/// The value as one YAML document.
pub(in crate::commands) fn write(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(&mut text, value, 0),
        Value::Array(list) if !list.is_empty() => block(&mut text, value, 0),
        flat => {
            scalar(&mut text, flat);
            text.push('\n');
        }
    }
    text
}

/// A map or a list that holds something; the cursor is where its first line begins.
fn block(text: &mut String, value: &Value, depth: usize) {
    let mut is_first = true;
    let mut begin = |text: &mut String| {
        if !std::mem::take(&mut is_first) {
            text.extend(std::iter::repeat_n("  ", depth));
        }
    };
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                begin(text);
                string(text, key);
                text.push(':');
                if is_block(inner) {
                    text.push('\n');
                    text.extend(std::iter::repeat_n("  ", depth + 1));
                    block(text, inner, depth + 1);
                } else {
                    text.push(' ');
                    scalar(text, inner);
                    text.push('\n');
                }
            }
        }
        Value::Array(list) => {
            for inner in list {
                begin(text);
                text.push_str("- ");
                if is_block(inner) {
                    block(text, inner, depth + 1);
                } else {
                    scalar(text, inner);
                    text.push('\n');
                }
            }
        }
        flat => scalar(text, flat),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    }
}

fn scalar(text: &mut String, value: &Value) {
    match value {
        Value::String(inner) => string(text, inner),
        // Numbers, booleans, null, {} and [] are the same in both.
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn string(text: &mut String, inner: &str) {
    if is_plain(inner) {
        text.push_str(inner);
        return;
    }
    text.push('"');
    for c in inner.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if is_printable(c) => text.push(c),
            c if u32::from(c) <= 0xff => {
                let _ = write!(text, "\\x{:02x}", u32::from(c));
            }
            c if u32::from(c) <= 0xffff => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => {
                let _ = write!(text, "\\U{:08x}", u32::from(c));
            }
        }
    }
    text.push('"');
}

fn is_plain(inner: &str) -> bool {
    let may_begin = inner.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    may_begin
        && inner.chars().all(is_word)
        && !RESERVED.contains(&inner.to_ascii_lowercase().as_str())
}

/// What YAML lets stand in text, save for line breaks of all kinds, marks of byte order, and what makes a
/// line look other than it is.
fn is_printable(c: char) -> bool {
    !is_odd(c)
        && matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}'
        | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use portcullis_document::Source;
    use portcullis_gate::offline::read_documents;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What a manifest of this text holds.
    #[track_caller]
    fn read_back(text: &str) -> Value {
        assert!(!text.contains(|c: char| is_odd(c) && c != '\n'), "{text:?}");
        let items = read_documents(&Source::text_named("out", text), "default");
        assert_eq!(items.len(), 1, "{text}");
        let read = items.into_iter().next().unwrap().into_manifest();
        read.unwrap_or_else(|f| panic!("{f:#}\n{text}")).object
    }

    fn values() -> impl Strategy<Value = Value> {
        let texts = prop_oneof![
            any::<String>(),
            "[-+.~0-9eExXob_:TZ]{0,12}",
            "[ \t\n#&*!|>'\"%@`,?:{}\\[\\]a\u{85}\u{202e}\u{200b}\u{feff}-]{0,8}",
            "(?i)(true|false|yes|no|on|off|y|n|null|nan|inf|\\.inf|\\.nan|<<|=|~)",
        ];
        let texts = texts.boxed();
        let flat = prop_oneof![
            texts.clone().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e300..1e300f64).prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        flat.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::from),
                vec((texts.clone(), inner), 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_back(value in values()) {
            let value = json!({
                "apiVersion": "v1", "kind": "X", "metadata": {"namespace": "default"}, "value": value,
            });
            prop_assert_eq!(read_back(&write(&value)), value);
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let odd = [
            "",
            " ",
            "a b",
            "true",
            "No",
            "1",
            "0x1f",
            "1e3",
            "1_000",
            "-",
            "- a",
            "a: b",
            "#",
            "a #b",
            "'",
            "\"",
            "\\",
            "~",
            "null",
            "é",
            "\u{7f}\u{85}\u{9b}\u{2028}\u{202e}\u{200b}\u{feff}\u{1f600}\u{1}",
            "a\nb\n",
            "\t",
            "%",
            "@a",
            "`a",
            "{a",
            "[a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "?",
            "12:30:45",
            "2001-01-01",
            "---",
            "...",
            ".inf",
            "=",
            "<<",
            "trailing ",
        ];
        let keys: serde_json::Map<String, Value> =
            odd.iter().map(|k| ((*k).to_owned(), json!(k))).collect();
        let value = json!({
            "apiVersion": "v1", "kind": "X", "metadata": {"namespace": "default"},
            "texts": &odd[..], "keys": keys,
            "nested": [[1, [2, []], {}], {"a": [{"b": {}, "c": [null]}]}, [], "x"],
            "numbers": [0, -1, 1.5, 1e300, u64::MAX, i64::MIN, true, false, null],
        });
        assert_eq!(read_back(&write(&value)), value);
    }

    #[test]
    fn it_looks_as_people_write_it() {
        let value = json!({"a": [{"b": 1, "c": "x y"}, "z"], "d": {}});
        assert_eq!(
            write(&value),
            "a:\n  - b: 1\n    c: \"x y\"\n  - z\nd: {}\n"
        );
    }
}
