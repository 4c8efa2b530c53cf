//! Variables of jobs and pipelines.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Variables by name.
pub type Variables = BTreeMap<String, Variable>;

/// A variable. In JSON and YAML it is its value, or a map of `value`, `masked`, `file` and `protected`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variable {
    /// Its value.
    pub value: String,
    /// Whether it is hidden in traces, and from every controller and policy.
    pub masked: bool,
    /// Whether jobs get the path of a file with its value.
    pub file: bool,
    /// Whether only jobs of protected refs get it.
    pub protected: bool,
}

impl Variable {
    /// A plain variable.
    pub fn plain(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }

    /// Whether it is nothing but its value.
    pub fn is_plain(&self) -> bool {
        !(self.masked || self.file || self.protected)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithFlags {
    value: Text,
    #[serde(default)]
    masked: bool,
    #[serde(default)]
    file: bool,
    #[serde(default)]
    protected: bool,
}

impl Serialize for Variable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_plain() {
            return serializer.serialize_str(&self.value);
        }
        let with_flags = WithFlags {
            value: Text(self.value.clone()),
            masked: self.masked,
            file: self.file,
            protected: self.protected,
        };
        with_flags.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Variable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VariableVisitor)
    }
}

struct VariableVisitor;

impl<'de> Visitor<'de> for VariableVisitor {
    type Value = Variable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or a map of value, masked, file and protected")
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Variable, E> {
        Ok(Variable::plain(value))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Variable, E> {
        Ok(Variable::plain(value.to_string()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Variable, E> {
        Ok(Variable::plain(value.to_string()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Variable, E> {
        Ok(Variable::plain(value.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Variable, A::Error> {
        let read = WithFlags::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Variable {
            value: read.value.0,
            masked: read.masked,
            file: read.file,
            protected: read.protected,
        })
    }
}

/// A value: a string, or what YAML reads as a whole number or boolean.
#[derive(Serialize)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Text, E> {
                Ok(Text(value.to_owned()))
            }

            fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Variable, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_variable_is_a_value_or_a_map() {
        assert_eq!(read("\"a\""), Ok(Variable::plain("a")));
        assert_eq!(read("12"), Ok(Variable::plain("12")));
        assert_eq!(read("-1"), Ok(Variable::plain("-1")));
        assert_eq!(read("true"), Ok(Variable::plain("true")));
        let masked = read(r#"{"value": "s", "masked": true}"#).unwrap();
        assert!(masked.masked && !masked.file && !masked.protected);
        for variable in [masked, Variable::plain("x")] {
            let json = serde_json::to_string(&variable).unwrap();
            assert_eq!(read(&json), Ok(variable));
        }
    }

    #[test]
    fn other_forms_are_named() {
        for (json, wanted) in [
            ("1.5", "expected a string, or a map of value"),
            ("[]", "expected a string, or a map of value"),
            (r#"{"masked": true}"#, "missing field `value`"),
            (r#"{"value": "a", "mask": true}"#, "unknown field `mask`"),
            (r#"{"value": []}"#, "expected a string"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(wanted), "{json}: {error}");
        }
    }
}
