//! Where one is in the document, and what was found there.

use std::fmt::{self, Write as _};

use serde_json::{Map, Value};

use super::{Fault, Known, Warning};

/// A place in the document, like `[3].tenant.role-mappings.everyone[1]`.
#[derive(Debug, Clone, Default)]
pub(super) struct At(String);

impl At {
    /// The place below a key.
    pub(super) fn key(&self, key: &str) -> Self {
        let mut path = self.0.clone();
        // Writing to a string can't fail.
        let _ = if key.is_empty() || key.contains(['.', '[', ']', '"', ' ']) {
            write!(path, "[{key:?}]")
        } else if path.is_empty() {
            write!(path, "{key}")
        } else {
            write!(path, ".{key}")
        };
        Self(path)
    }

    /// The place of an item.
    pub(super) fn item(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) faults: Vec<Fault>,
    pub(super) warnings: Vec<Warning>,
}

impl Findings {
    /// Something is wrong.
    pub(super) fn fault(&mut self, at: &At, message: impl Into<String>) {
        self.faults.push(Fault {
            path: at.to_string(),
            message: message.into(),
            known: None,
        });
    }

    /// Something is not known.
    pub(super) fn unknown<'n>(
        &mut self,
        at: &At,
        message: impl Into<String>,
        what: &str,
        written: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        self.faults.push(Fault {
            path: at.to_string(),
            message: message.into(),
            known: Some(Known {
                what: what.to_owned(),
                written: written.to_owned(),
                known: known.into_iter().map(str::to_owned).collect(),
            }),
        });
    }

    /// Something is odd.
    pub(super) fn warn(&mut self, at: &At, message: impl Into<String>) {
        self.warnings.push(Warning {
            path: at.to_string(),
            message: message.into(),
        });
    }

    /// The map that must be here.
    pub(super) fn map<'v>(
        &mut self,
        value: &'v Value,
        at: &At,
        whose: &str,
    ) -> Option<&'v Map<String, Value>> {
        let map = value.as_object();
        if map.is_none() {
            self.fault(at, format!("{whose} must be a map, not {}", kind(value)));
        }
        map
    }

    /// A text, or a list of texts. What is not a text is a fault.
    pub(super) fn texts<'v>(
        &mut self,
        value: &'v Value,
        at: &At,
        whose: &str,
    ) -> Vec<(At, &'v str)> {
        match value {
            Value::String(text) => vec![(at.clone(), text)],
            Value::Array(items) => {
                let mut texts = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let at = at.item(index);
                    match item {
                        Value::String(text) => texts.push((at, text.as_str())),
                        other => self.fault(&at, format!("{whose} must be {}", text_not(other))),
                    }
                }
                texts
            }
            other => {
                let wrong = format!(
                    "{whose} must be a string or a list of strings, not {}",
                    kind(other)
                );
                self.fault(at, wrong);
                Vec::new()
            }
        }
    }

    /// The name that a rule, a role or a tenant must have.
    pub(super) fn name<'v>(
        &mut self,
        map: &'v Map<String, Value>,
        at: &At,
        what: &str,
    ) -> Option<&'v str> {
        let wrong = match map.get("name") {
            None => {
                self.fault(at, format!("the {what} has no `name`"));
                return None;
            }
            Some(Value::String(name)) if name.is_empty() => "must not be empty".to_owned(),
            Some(Value::String(name)) if name.chars().any(char::is_control) => {
                "must not contain control characters".to_owned()
            }
            Some(Value::String(name)) => return Some(name),
            Some(other) => format!("must be {}", text_not(other)),
        };
        self.fault(&at.key("name"), format!("the name of the {what} {wrong}"));
        None
    }
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// "a text, not ...", with a hint where quotes would make it one.
pub(super) fn text_not(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => {
            format!(
                "a string, not {}: put it in quotes, like \"{value}\"",
                kind(value)
            )
        }
        other => format!("a string, not {}", kind(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_so_that_they_can_be_read() {
        let at = At::default().item(3).key("tenant").key("role-mappings");
        assert_eq!(
            at.key("everyone").item(1).to_string(),
            "[3].tenant.role-mappings.everyone[1]"
        );
        assert_eq!(
            at.key("a.b").to_string(),
            "[3].tenant.role-mappings[\"a.b\"]"
        );
        assert_eq!(
            at.key("a b").to_string(),
            "[3].tenant.role-mappings[\"a b\"]"
        );
        assert_eq!(
            at.key("a\"[").to_string(),
            "[3].tenant.role-mappings[\"a\\\"[\"]"
        );
        assert_eq!(At::default().key("x").to_string(), "x");
    }
}
