//! Looks up claims by the key that a rule uses.
//!
//! A key like `a.b.c` may mean a claim of just that name, or one below others. At every object the whole
//! rest of the key is tried as a name first, then the part before the first dot, before the second,
//! and so on; the first that leads to a value counts. Lists are not walked.

use portcullis_core::text::shortened;
use serde_json::{Map, Number, Value};

use portcullis_core::Identity;

/// The key under which rules know the stable name of the caller. A claim of this name is never seen.
pub(super) const UID: &str = "zuul_uid";

/// How much of a claim is shown in words.
const SHOWN: usize = 120;

/// One thing that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar<'a> {
    /// A text.
    Text(&'a str),
    /// Yes or no.
    Flag(bool),
    /// A whole number, however it is written.
    Number(i128),
}

/// What a key led to.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClaimValue<'a> {
    /// The stable name of the caller.
    Uid(&'a str),
    /// A claim.
    Claim(&'a Value),
}

/// What this key means for this caller.
pub(super) fn find<'a>(who: &'a Identity, key: &str) -> Option<ClaimValue<'a>> {
    if key == UID {
        return Some(ClaimValue::Uid(&who.uid));
    }
    look(&who.claims, key, true).map(ClaimValue::Claim)
}

/// Every name that the first step of this key may have.
pub(super) fn heads(key: &str) -> impl Iterator<Item = &str> {
    let before_dots = key.match_indices('.').filter_map(|(dot, _)| key.get(..dot));
    std::iter::once(key).chain(before_dots)
}

fn look<'a>(object: &'a Map<String, Value>, key: &str, top: bool) -> Option<&'a Value> {
    if let Some(value) = object.get(key) {
        return Some(value);
    }
    key.match_indices('.').find_map(|(dot, _)| {
        let (head, rest) = (key.get(..dot)?, key.get(dot + 1..)?);
        if top && head == UID {
            return None;
        }
        match object.get(head)? {
            Value::Object(inner) => look(inner, rest, false),
            _ => None,
        }
    })
}

impl<'a> Scalar<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::Bool(flag) => Some(Self::Flag(*flag)),
            Value::Number(number) => whole(number).map(Self::Number),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// The value of a number, if it is whole.
pub(super) fn whole(number: &Number) -> Option<i128> {
    if let Some(signed) = number.as_i64() {
        return Some(signed.into());
    }
    if let Some(unsigned) = number.as_u64() {
        return Some(unsigned.into());
    }
    let float = number.as_f64()?;
    // Beyond this, floats have gaps, and a number written there is not the number that is read.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i128)
}

impl<'a> ClaimValue<'a> {
    /// Whether any of its values, itself or those of a list, matches.
    pub(super) fn any(self, mut wanted: impl FnMut(Scalar<'a>) -> bool) -> bool {
        match self {
            Self::Uid(uid) => wanted(Scalar::Text(uid)),
            Self::Claim(Value::Array(items)) => {
                items.iter().filter_map(Scalar::of).any(&mut wanted)
            }
            Self::Claim(value) => Scalar::of(value).is_some_and(wanted),
        }
    }

    /// It in words: "is `bob`", "has `a`, `b`".
    pub(super) fn words(self) -> String {
        match self {
            Self::Uid(uid) => format!("is `{}`", shortened(uid, SHOWN)),
            Self::Claim(Value::Array(items)) if items.is_empty() => "is an empty list".to_owned(),
            Self::Claim(Value::Array(items)) => {
                let mut words = String::from("has ");
                for (index, item) in items.iter().enumerate() {
                    if words.len() > SHOWN {
                        words.push_str(", ...");
                        break;
                    }
                    if index > 0 {
                        words.push_str(", ");
                    }
                    words.push_str(&value_words(item));
                }
                words
            }
            Self::Claim(value) => format!("is {}", value_words(value)),
        }
    }
}

fn value_words(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => format!("`{}`", shortened(text, SHOWN)),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("`{number}`"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use portcullis_core::AdminOf;

    fn found(claims: &Value, key: &str) -> Option<Value> {
        let who = Identity {
            claims: claims.as_object().unwrap().clone(),
            uid: "u-1".to_owned(),
            admin: AdminOf::Nothing,
        };
        match find(&who, key)? {
            ClaimValue::Uid(uid) => Some(json!({ "uid": uid })),
            ClaimValue::Claim(value) => Some(value.clone()),
        }
    }

    #[test]
    fn keys_are_whole_names_first_and_then_split_shortest_first() {
        for (claims, key, wanted) in [
            (json!({"a": {"b": {"c": 1}}}), "a.b.c", Some(json!(1))),
            (
                json!({"a.b.c": 0, "a": {"b": {"c": 1}}}),
                "a.b.c",
                Some(json!(0)),
            ),
            (
                json!({"a.b": {"c": 2}, "a": {"b": {"c": 1}}}),
                "a.b.c",
                Some(json!(1)),
            ),
            (
                json!({"a.b": {"c": 2}, "a": {"b": {}}}),
                "a.b.c",
                Some(json!(2)),
            ),
            (
                json!({"a": {"b.c": 3, "b": {"c": 1}}}),
                "a.b.c",
                Some(json!(3)),
            ),
            (json!({"a": "text"}), "a.b", None),
            (json!({"a": [{"b": 1}]}), "a.b", None),
            (
                json!({"https://x.y/groups": ["g"]}),
                "https://x.y/groups",
                Some(json!(["g"])),
            ),
            (
                json!({"cognito:groups": ["g"]}),
                "cognito:groups",
                Some(json!(["g"])),
            ),
            (
                json!({"a": {"https://x.y/z": 1}}),
                "a.https://x.y/z",
                Some(json!(1)),
            ),
            (json!({"a": {"": {"b": 1}}}), "a..b", Some(json!(1))),
            (json!({"": 1}), "", Some(json!(1))),
        ] {
            assert_eq!(found(&claims, key), wanted, "{key} in {claims}");
        }
    }

    #[test]
    fn the_uid_is_not_a_claim() {
        let claims = json!({"zuul_uid": "forged", "x": {"zuul_uid": "below"}});
        assert_eq!(found(&claims, "zuul_uid"), Some(json!({"uid": "u-1"})));
        assert_eq!(found(&claims, "x.zuul_uid"), Some(json!("below")));
        let claims = json!({"zuul_uid": {"x": "forged"}});
        assert_eq!(found(&claims, "zuul_uid.x"), None);
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for (claim, wanted) in [
            (json!(5), Some(5)),
            (json!(5.0), Some(5)),
            (json!(-0.0), Some(0)),
            (json!(u64::MAX), Some(u64::MAX.into())),
            (json!(i64::MIN), Some(i64::MIN.into())),
            (json!(5.5), None),
            (json!(1e300), None),
        ] {
            assert_eq!(whole(claim.as_number().unwrap()), wanted, "{claim}");
        }
    }

    #[test]
    fn long_claims_are_shortened_in_words() {
        let long = json!("é".repeat(500));
        assert!(ClaimValue::Claim(&long).words().len() < 300);
        let many = json!(vec!["group"; 500]);
        assert!(ClaimValue::Claim(&many).words().ends_with(", ..."));
    }
}
