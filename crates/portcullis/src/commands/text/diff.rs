//! A patch as people read it: what came, what went, what became what.

use portcullis_core::patch::PatchOperation;
use serde_json::Value;

/// One line for every step of a patch of this object.
pub(in crate::commands) fn lines(original: &Value, patch: &[PatchOperation]) -> Vec<String> {
    let mut tree = original.clone();
    patch.iter().map(|step| line(&mut tree, step)).collect()
}

/// The line for a step, after which the step is done.
fn line(tree: &mut Value, step: &PatchOperation) -> String {
    match step {
        PatchOperation::Add { path, value } => {
            put(tree, path, value, true);
            format!("+ {path}: {value}")
        }
        PatchOperation::Remove { path } => {
            let old = remove(tree, path).unwrap_or_default();
            format!("- {path}: {old}")
        }
        PatchOperation::Replace { path, value } => {
            let old = tree.pointer(path).cloned().unwrap_or_default();
            put(tree, path, value, false);
            format!("~ {path}: {old} -> {value}")
        }
    }
}

/// The value that holds the place, and the place in it.
fn outer<'a>(tree: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (above, key) = path.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    Some((tree.pointer_mut(above)?, key))
}

fn put(tree: &mut Value, path: &str, value: &Value, comes: bool) {
    let Some((holder, key)) = outer(tree, path) else {
        *tree = value.clone();
        return;
    };
    match holder {
        Value::Object(map) => {
            map.insert(key, value.clone());
        }
        Value::Array(list) => {
            let place = key.parse().unwrap_or(list.len()).min(list.len());
            if comes {
                list.insert(place, value.clone());
            } else if let Some(old) = list.get_mut(place) {
                old.clone_from(value);
            }
        }
        _ => {}
    }
}

fn remove(tree: &mut Value, path: &str) -> Option<Value> {
    let (holder, key) = outer(tree, path)?;
    match holder {
        Value::Object(map) => map.remove(&key),
        Value::Array(list) => {
            let place = key.parse().ok().filter(|place| *place < list.len())?;
            Some(list.remove(place))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::patch::diff;
    use serde_json::json;

    use super::*;

    #[test]
    fn old_values_are_those_at_the_time_of_the_step() {
        let from = json!({"a": [1, 2, 3, 4], "b/c": {"~": 1}, "gone": null});
        let to = json!({"a": [0, 2, 4], "b/c": {"~": "x"}, "new": {}});
        let shown = lines(&from, &diff(&from, &to));
        assert_eq!(
            shown,
            [
                "- /gone: null",
                "~ /a/0: 1 -> 0",
                "- /a/2: 3",
                "~ /b~1c/~0: 1 -> \"x\"",
                "+ /new: {}",
            ]
        );
    }
}
