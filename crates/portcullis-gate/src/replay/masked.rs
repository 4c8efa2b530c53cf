//! Values compared with recorded ones, parts of which may be masked.

use serde_json::Value;

use super::MASK;

/// Whether a value is what was recorded; what is masked in the record could be anything. A text says
/// that it is masked; a number, a list or an object is an empty one then.
pub(super) fn is_same_but_for_masks(recorded: &Value, now: &Value) -> bool {
    match (recorded, now) {
        (Value::String(text), _) if text == MASK => true,
        (Value::String(text), Value::String(now)) if text.contains(MASK) => fits(text, now),
        (_, Value::String(text)) if text == MASK => match recorded {
            Value::Number(n) => n.as_u64() == Some(0),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_but_for_masks(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    b.get(key)
                        .is_some_and(|other| is_same_but_for_masks(value, other))
                })
        }
        (a, b) => a == b,
    }
}

/// Whether a text could be the recorded one, parts of which are masked.
fn fits(recorded: &str, now: &str) -> bool {
    let mut parts = recorded.split(MASK);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = now.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_masked_could_be_anything() {
        let same = |a: Value, b: Value| is_same_but_for_masks(&a, &b);
        assert!(same(json!({"a": ["(masked)", 1]}), json!({"a": ["x", 1]})));
        assert!(!same(json!({"a": ["x", 1]}), json!({"a": ["(masked)", 1]})));
        assert!(same(json!([0, [], {}]), json!([MASK, MASK, MASK])));
        assert!(!same(json!([1]), json!([MASK])));
        assert!(!same(json!({"a": 1}), json!({"a": 1, "b": 1})));
        assert!(!same(json!({"a": 1}), json!({"b": 1})));
        assert!(!same(json!([1]), json!([1, 2])));
        assert!(!same(json!(1), json!(1.0)));
        for (recorded, now, wanted) in [
            ("a-(masked)-z", "a-secret-z", true),
            ("a-(masked)-z", "a--z", true),
            ("a-(masked)-z", "a-z", false),
            ("(masked)z", "z", true),
            ("(masked)/(masked)", "a/b", true),
            ("(masked)/(masked)", "ab", false),
            ("a(masked)b(masked)c", "a1b2c", true),
            ("a(masked)b(masked)c", "a1c2b", false),
            ("a(masked)", "b", false),
        ] {
            assert_eq!(
                same(json!(recorded), json!(now)),
                wanted,
                "{recorded} {now}"
            );
        }
    }
}
