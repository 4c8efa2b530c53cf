//! The message of a denial, with placeholders for values.
//!
//! Values come from the client: they are escaped as in a quoted text and cut, so that none can forge the
//! text around it or make it long.

use portcullis_core::braces::{self, Token};
use portcullis_core::text::shortened;
use serde_json::Value;

/// A longer value is cut.
const MAX_VALUE: usize = 256;

/// Text with places for values: `no {request.name} here`. A brace itself is written twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(String),
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parts = braces::tokens(text)?.into_iter().map(|token| match token {
            Token::Text(text) => Ok(Part::Text(text.to_owned())),
            Token::Name("") => Err("`{}` is empty: expected a name in the braces".to_owned()),
            Token::Name(name) => Ok(Part::Value(name.to_owned())),
        });
        Ok(Self {
            parts: parts.collect::<Result<_, _>>()?,
        })
    }

    /// The names of the values it has places for.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(name) => Some(name.as_str()),
        })
    }

    /// The text with these values.
    pub(super) fn render(&self, value_of: impl Fn(&str) -> Value) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Value(name) => text.push_str(&shown(&value_of(name))),
            }
        }
        text
    }
}

/// A value as it stands in a text.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => bounded(text),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            // No more of them than can be seen.
            let items = items.iter().take(MAX_VALUE).filter_map(Value::as_str);
            bounded(&items.collect::<Vec<_>>().join(", "))
        }
        other => bounded(&other.to_string()),
    }
}

/// Text that is escaped, and cut where it is long.
pub(super) fn bounded(text: &str) -> String {
    shortened(text, MAX_VALUE).escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_stand_where_their_names_do() {
        let template = Template::parse("no {a} in \"{b.c}\" {{x}}").expect("a template");
        assert_eq!(template.names().collect::<Vec<_>>(), ["a", "b.c"]);
        let text = template.render(|name| match name {
            "a" => json!(["x", "y"]),
            _ => json!(name.len()),
        });
        assert_eq!(text, "no x, y in \"3\" {x}");
        let nothing = Template::parse("{a}").expect("a template");
        assert_eq!(nothing.render(|_| Value::Null), "");
    }

    #[test]
    fn a_value_can_neither_forge_nor_flood_the_text() {
        let template = Template::parse("seed \"{a}\"").expect("a template");
        let forged = template.render(|_| json!("x\" is fine\n\u{1b}[2J\u{202e}"));
        assert_eq!(forged, "seed \"x\\\" is fine\\n\\u{1b}[2J\\u{202e}\"");
        let long = template.render(|_| json!("é".repeat(100_000)));
        assert!(long.chars().count() < 300 && long.ends_with("…\""));
        let long = template.render(|_| json!({"a": "b".repeat(100_000)}));
        assert!(long.chars().count() < 600);
    }

    #[test]
    fn broken_templates_are_told() {
        for text in ["{", "a {b", "{}", "a } b", "{a} {b", "{a {b}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }
}
