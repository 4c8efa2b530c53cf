//! A human-readable patch: what was added, removed and changed.

use portcullis_core::patch::PatchOperation;
use serde_json::Value;

/// One line for every step of a patch of this object.
pub(in crate::commands) fn lines(original: &Value, patch: &[PatchOperation]) -> Vec<String> {
    let mut tree = original.clone();
    patch.iter().map(|step| line(&mut tree, step)).collect()
}

/// The line for a step, after which the step is done.
fn line(tree: &mut Value, step: &PatchOperation) -> String {
    let old = step.apply(tree).ok().flatten().unwrap_or_default();
    match step {
        PatchOperation::Add { path, value } => format!("+ {path}: {value}"),
        PatchOperation::Remove { path } => format!("- {path}: {old}"),
        PatchOperation::Replace { path, value } => format!("~ {path}: {old} -> {value}"),
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
