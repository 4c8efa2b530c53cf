//! Compares the recorded answer with the new one.

use portcullis_record::{Answer, Decision};
use serde_json::Value;

use super::MASK;
use super::outcome::{Answered, Change, ChangeKind, Outcome};
use super::trace;

/// What was answered then.
pub(super) fn was(decision: &Decision) -> Answered {
    let summary = &decision.summary;
    Answered {
        allowed: summary.verdict == Answer::Allow,
        by: summary.policy.clone().or(summary.plugin.clone()),
        message: summary.message.clone(),
        patch: decision.patch.clone(),
    }
}

/// What would change, for a request whose answer may carry a patch or not.
pub(super) fn compare(
    decision: &Decision,
    now: Answered,
    may_patch: bool,
    changed_by: Option<String>,
) -> Outcome {
    let was = was(decision);
    let by_now = now.by.clone();
    let (kind, by) = match (was.allowed, now.allowed) {
        (true, false) => (ChangeKind::NewlyDenied, by_now),
        (false, true) => (ChangeKind::NewlyAllowed, was.by.clone()),
        (false, false) => {
            return Outcome::Same {
                by_another: was.by != now.by,
            };
        }
        (true, true) if !may_patch || is_same_patch(&was.patch, &now.patch) => {
            return Outcome::Same { by_another: false };
        }
        (true, true) => (ChangeKind::PatchDiffers, changed_by),
    };
    let remark = trace::was_undecided(decision).then(|| {
        "the recorded request could not be decided, which may differ from run to run".to_owned()
    });
    Outcome::Changed(Box::new(Change {
        kind,
        by: by.unwrap_or_else(|| "the chain".to_owned()),
        was,
        now,
        remark,
    }))
}

/// Whether two patches are the same, byte for byte, but for what the record masks.
pub(super) fn is_same_patch(was: &[Value], now: &[Value]) -> bool {
    let text = |patch: &[Value]| serde_json::to_string(patch).unwrap_or_default();
    text(was) == text(now)
        || (was.len() == now.len()
            && was
                .iter()
                .zip(now)
                .all(|(was, now)| is_same_but_for_masks(was, now)))
}

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
