//! JSON data as YAML, in block style.
//!
//! A string is unquoted only where no reader of any YAML version takes it for something else. The
//! serializer of the library that reads YAML is not used: it leaves marks of the direction of writing, and
//! zero-width characters, unescaped in plain scalars, and strings of requests are shown on terminals.

use std::fmt::Write;

use portcullis_core::text::is_odd;
use serde_json::Value;

/// Words that some readers take for booleans, nulls or numbers.
const RESERVED: &[&str] = &[
    "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf",
];

/// The value as one YAML document.
pub fn write(value: &Value) -> String {
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
