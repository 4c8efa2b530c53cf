//! A JSON patch as people read it: a line for each change.

use portcullis_core::patch::PatchOperation;
use serde::Deserialize;
use serde_json::Value;

/// One operation of a JSON patch.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Operation {
    op: String,
    path: String,
    #[serde(default)]
    value: Option<Value>,
}

/// A line of the difference: said by a sign, a word and a colour.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    pub(crate) word: &'static str,
    pub(crate) path: String,
    /// What was there before, where that is known.
    pub(crate) old: String,
    /// What is there now; empty after a removal.
    pub(crate) value: String,
}

/// The lines of a patch.
pub(crate) fn changes(patch: Vec<Operation>) -> Vec<Change> {
    patch.into_iter().map(change).collect()
}

/// The lines of a patch of this object, with what was there before each of them.
pub(crate) fn changes_of(original: &Value, patch: Vec<Operation>) -> Vec<Change> {
    let mut tree = original.clone();
    let lines = patch.into_iter().map(|operation| {
        let step = operation.step();
        let old = step.and_then(|step| step.apply(&mut tree).ok().flatten());
        let old = old.map(|old| old.to_string());
        Change {
            old: old.unwrap_or_default(),
            ..change(operation)
        }
    });
    lines.collect()
}

impl Operation {
    /// The step it is, if it is one that Portcullis makes.
    fn step(&self) -> Option<PatchOperation> {
        let path = self.path.clone();
        let value = self.value.clone().unwrap_or_default();
        match self.op.as_str() {
            "add" => Some(PatchOperation::Add { path, value }),
            "remove" => Some(PatchOperation::Remove { path }),
            "replace" => Some(PatchOperation::Replace { path, value }),
            _ => None,
        }
    }
}

fn change(operation: Operation) -> Change {
    let (class, sign, word) = match operation.op.as_str() {
        "add" => ("added", "+", "added"),
        "remove" => ("removed", "−", "removed"),
        "replace" => ("replaced", "~", "replaced"),
        _ => ("replaced", "→", "moved"),
    };
    let value = operation.value.map(|value| value.to_string());
    Change {
        class,
        sign,
        word,
        path: operation.path,
        old: String::new(),
        value: value.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn old_values_are_those_before_each_line() {
        let patch = json!([
            {"op": "add", "path": "/a/0", "value": 0},
            {"op": "replace", "path": "/a/1", "value": "x"},
            {"op": "remove", "path": "/b"},
            {"op": "replace", "path": "/none/here", "value": 1},
        ]);
        let patch = serde_json::from_value(patch).unwrap();
        let lines = changes_of(&json!({"a": [1], "b": {"c": null}}), patch);
        let lines: Vec<[&str; 2]> = lines
            .iter()
            .map(|line| [line.old.as_str(), line.value.as_str()])
            .collect();
        assert_eq!(
            lines,
            [["", "0"], ["1", "\"x\""], ["{\"c\":null}", ""], ["", "1"]]
        );
    }
}
