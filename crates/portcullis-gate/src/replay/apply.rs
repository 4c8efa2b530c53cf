//! Recorded patches, applied again.

use portcullis_core::patch::{self, Misfit, PatchOperation};
use portcullis_record::Decision;
use serde::Deserialize;
use serde_json::Value;

use super::outcome::Outcome;

/// What comes of a decision whose recorded patch doesn't fit: what it changed may be masked as a whole.
pub(super) fn misfit(decision: &Decision) -> Outcome {
    if decision.input.masked.is_empty() {
        return Outcome::Failed("a recorded patch does not fit the recorded object".to_owned());
    }
    Outcome::Unknown("a recorded patch changes what is masked".to_owned())
}

/// Applies a patch, of which only the kinds of steps are recorded that are made.
pub(super) fn apply(tree: &mut Value, patch: &[Value]) -> Result<(), Misfit> {
    let steps = patch.iter().map(PatchOperation::deserialize);
    let steps: Vec<_> = steps.collect::<Result<_, _>>().map_err(|_| Misfit)?;
    patch::apply(tree, &steps)
}

#[cfg(test)]
mod tests {
    use portcullis_core::patch::diff;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_made_can_be_applied() {
        let from = json!({"a": [1, 2, 3, 4], "b/c": {"~": 1}, "gone": null, "x": {"y": [1]}});
        let to = json!({"a": [0, 2, 4], "b/c": {"~": "x"}, "new": {}, "x": {"y": [2, 1, 3]}});
        let patch = json!(diff(&from, &to));
        let mut tree = from;
        apply(&mut tree, patch.as_array().unwrap()).unwrap();
        assert_eq!(tree, to);
    }

    #[test]
    fn what_is_never_recorded_does_not_fit() {
        for step in [
            json!({"op": "replace", "path": "/b", "value": 1}),
            json!({"op": "test", "path": "/a", "value": 1}),
            json!({"op": "add", "path": "/b"}),
            json!(1),
        ] {
            let mut tree = json!({"a": [1]});
            assert_eq!(
                apply(&mut tree, std::slice::from_ref(&step)),
                Err(Misfit),
                "{step}"
            );
        }
    }
}
