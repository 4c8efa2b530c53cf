//! `allow_failure`: which failures of a job don't fail its pipeline.

use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::failure::FailureReason;

const KEYS: &[&str] = &["exit_codes", "on_denied_admission"];
/// The most exit codes in one list.
const MOST_CODES: usize = 256;

/// Which failures are allowed. In JSON and YAML it is `true`, `false`, or a map of `exit_codes` (one, or a list)
/// and `on_denied_admission`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowFailure {
    /// Every failure.
    pub always: bool,
    /// Scripts that exit with one of these codes.
    pub exit_codes: Vec<i32>,
    /// A denied admission, also one that timed out or left no runner.
    pub on_denied_admission: bool,
}

impl AllowFailure {
    /// Every failure is allowed.
    pub fn always() -> Self {
        Self {
            always: true,
            ..Self::default()
        }
    }

    /// Whether a failure for this reason is allowed.
    pub fn covers(&self, reason: FailureReason, exit_code: Option<i32>) -> bool {
        let is_listed = || exit_code.is_some_and(|code| self.exit_codes.contains(&code));
        self.always
            || (self.on_denied_admission && reason.is_denied_admission())
            || (reason == FailureReason::ScriptFailure && is_listed())
    }
}

impl Serialize for AllowFailure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.always || *self == Self::default() {
            return serializer.serialize_bool(self.always);
        }
        let mut map = serializer.serialize_map(None)?;
        if !self.exit_codes.is_empty() {
            map.serialize_entry("exit_codes", &self.exit_codes)?;
        }
        if self.on_denied_admission {
            map.serialize_entry("on_denied_admission", &true)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for AllowFailure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AllowFailureVisitor)
    }
}

struct AllowFailureVisitor;

impl<'de> Visitor<'de> for AllowFailureVisitor {
    type Value = AllowFailure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, or a map of exit_codes and on_denied_admission")
    }

    fn visit_bool<E>(self, always: bool) -> Result<AllowFailure, E> {
        Ok(AllowFailure {
            always,
            ..AllowFailure::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AllowFailure, A::Error> {
        let mut read = AllowFailure::default();
        let mut seen: Vec<&str> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let Some(known) = KEYS.iter().find(|known| **known == key) else {
                map.next_value::<IgnoredAny>()?;
                return Err(A::Error::unknown_field(&key, KEYS));
            };
            if seen.contains(known) {
                return Err(A::Error::duplicate_field(known));
            }
            seen.push(known);
            match *known {
                "exit_codes" => read.exit_codes = map.next_value::<ExitCodes>()?.0,
                _ => read.on_denied_admission = map.next_value()?,
            }
        }
        Ok(read)
    }
}

/// One exit code, or a list of them.
struct ExitCodes(Vec<i32>);

impl<'de> Deserialize<'de> for ExitCodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExitCodesVisitor)
    }
}

struct ExitCodesVisitor;

impl<'de> Visitor<'de> for ExitCodesVisitor {
    type Value = ExitCodes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an exit code or a list of exit codes")
    }

    fn visit_u64<E: serde::de::Error>(self, code: u64) -> Result<ExitCodes, E> {
        let code = i32::try_from(code);
        let code = code.map_err(|_| E::custom("an exit code is at most 2147483647"))?;
        Ok(ExitCodes(vec![code]))
    }

    fn visit_i64<E: serde::de::Error>(self, code: i64) -> Result<ExitCodes, E> {
        let code = i32::try_from(code);
        let code = code.map_err(|_| E::custom("an exit code is at least -2147483648"))?;
        Ok(ExitCodes(vec![code]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ExitCodes, A::Error> {
        let mut codes: Vec<i32> = Vec::new();
        while let Some(code) = items.next_element()? {
            if codes.len() == MOST_CODES {
                let message = format!("more than {MOST_CODES} exit codes");
                return Err(A::Error::custom(message));
            }
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        Ok(ExitCodes(codes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> AllowFailure {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_forms_are_a_boolean_or_a_map() {
        assert_eq!(read("true"), AllowFailure::always());
        assert_eq!(read("false"), AllowFailure::default());
        assert_eq!(read("{}"), AllowFailure::default());
        assert_eq!(read(r#"{"exit_codes": 137}"#).exit_codes, [137]);
        let both = read(r#"{"exit_codes": [1, 2, 1], "on_denied_admission": true}"#);
        assert_eq!(both.exit_codes, [1, 2]);
        assert!(both.on_denied_admission && !both.always);
        for value in [both, AllowFailure::always(), AllowFailure::default()] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(read(&json), value, "{json}");
        }
    }

    #[test]
    fn other_forms_are_named() {
        for (json, wanted) in [
            (r#""yes""#, "expected true, false, or a map of exit_codes"),
            (r#"{"exit_code": 1}"#, "unknown field `exit_code`"),
            (r#"{"exit_codes": "1"}"#, "expected an exit code or a list"),
            (r#"{"exit_codes": 99999999999}"#, "at most 2147483647"),
            (r#"{"on_denied_admission": 1}"#, "expected a boolean"),
        ] {
            let error = serde_json::from_str::<AllowFailure>(json).unwrap_err();
            assert!(error.to_string().contains(wanted), "{json}: {error}");
        }
    }

    #[test]
    fn each_form_covers_its_own_failures_only() {
        use FailureReason::{
            AdmissionDenied, AdmissionNoRunner, AdmissionTimeout, RunnerSystemFailure,
            ScriptFailure,
        };
        let on_denied = r#"{"on_denied_admission": true}"#;
        let codes = r#"{"exit_codes": [3]}"#;
        let both = r#"{"exit_codes": [3], "on_denied_admission": true}"#;
        for (json, reason, code, covered) in [
            ("true", AdmissionDenied, None, true), // case 37
            ("true", ScriptFailure, Some(1), true),
            ("false", AdmissionDenied, None, false),
            (on_denied, AdmissionDenied, None, true), // case 34
            (on_denied, AdmissionTimeout, None, true), // case 35
            (on_denied, AdmissionNoRunner, None, true),
            (on_denied, ScriptFailure, Some(1), false), // case 36
            (codes, ScriptFailure, Some(3), true),
            (codes, ScriptFailure, Some(4), false),
            (codes, ScriptFailure, None, false),
            (codes, RunnerSystemFailure, Some(3), false),
            (codes, AdmissionDenied, None, false),
            (both, AdmissionDenied, None, true),
            (both, ScriptFailure, Some(3), true),
            (both, ScriptFailure, Some(1), false),
        ] {
            assert_eq!(read(json).covers(reason, code), covered, "{json} {reason}");
        }
    }
}
