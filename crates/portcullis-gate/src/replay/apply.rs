//! Recorded patches, applied again.

use portcullis_record::Decision;
use serde_json::Value;

use super::outcome::Outcome;

/// A patch that doesn't fit what it is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a recorded patch does not fit the recorded object")]
pub(super) struct Misfit;

impl Misfit {
    /// What comes of the decision: what a patch changed may be masked as a whole.
    pub(super) fn outcome(self, decision: &Decision) -> Outcome {
        if decision.input.masked.is_empty() {
            return Outcome::Failed(self.to_string());
        }
        Outcome::Unknown("a recorded patch changes what is masked".to_owned())
    }
}

/// Applies the steps of an RFC 6902 patch, of the three kinds that are ever recorded.
pub(super) fn apply(tree: &mut Value, patch: &[Value]) -> Result<(), Misfit> {
    patch.iter().try_for_each(|step| one(tree, step))
}

fn one(tree: &mut Value, step: &Value) -> Result<(), Misfit> {
    let text = |key: &str| step.get(key).and_then(Value::as_str).ok_or(Misfit);
    let (operation, path) = (text("op")?, text("path")?);
    let value = || step.get("value").cloned().ok_or(Misfit);
    if path.is_empty() {
        match operation {
            "add" | "replace" => *tree = value()?,
            _ => return Err(Misfit),
        }
        return Ok(());
    }
    let (above, key) = path.rsplit_once('/').ok_or(Misfit)?;
    let key = key.replace("~1", "/").replace("~0", "~");
    match (tree.pointer_mut(above).ok_or(Misfit)?, operation) {
        (Value::Object(map), "add") => {
            map.insert(key, value()?);
        }
        (Value::Object(map), "replace") => *map.get_mut(&key).ok_or(Misfit)? = value()?,
        (Value::Object(map), "remove") => {
            map.remove(&key).ok_or(Misfit)?;
        }
        (Value::Array(list), operation) => {
            let place: usize = key.parse().map_err(|_| Misfit)?;
            match operation {
                "add" if place <= list.len() => list.insert(place, value()?),
                "replace" => *list.get_mut(place).ok_or(Misfit)? = value()?,
                "remove" if place < list.len() => {
                    list.remove(place);
                }
                _ => return Err(Misfit),
            }
        }
        _ => return Err(Misfit),
    }
    Ok(())
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
    fn what_does_not_fit_is_said() {
        for step in [
            json!({"op": "remove", "path": "/b"}),
            json!({"op": "replace", "path": "/b", "value": 1}),
            json!({"op": "add", "path": "/b/c", "value": 1}),
            json!({"op": "add", "path": "/a/2", "value": 1}),
            json!({"op": "add", "path": "/a/x", "value": 1}),
            json!({"op": "remove", "path": "/a/1"}),
            json!({"op": "test", "path": "/a", "value": 1}),
            json!({"op": "add", "path": "/b"}),
            json!({"op": "remove", "path": ""}),
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
