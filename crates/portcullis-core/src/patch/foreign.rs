//! Patches that others made, applied: every operation of RFC 6902, with bounds on what they can make of a
//! document.
//!
//! All of a patch is applied, or nothing.

use serde::Deserialize;
use serde_json::Value;

use super::PatchOperation;
use crate::json::MAX_DEPTH;

/// The most operations of a patch.
const MOST_OPERATIONS: usize = 10_000;

/// How many bytes a patch may copy within the document, as API servers limit it.
const MOST_COPIED: usize = 3 << 20;

/// Why a patch of others can't be applied. Operations are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignPatchError {
    /// It is something else.
    #[error("not a JSON Patch: {0}")]
    Malformed(String),
    /// It is too long.
    #[error("the patch has more than {MOST_OPERATIONS} operations")]
    TooLong,
    /// There is no such place in the document.
    #[error("operation {0} of the patch does not fit the object")]
    Misfit(usize),
    /// The document is not as the patch expects it.
    #[error("operation {0} of the patch is a test that failed")]
    Test(usize),
    /// The document would be nested too deep.
    #[error("operation {0} of the patch nests the object deeper than {MAX_DEPTH} levels")]
    TooDeep(usize),
    /// Too much would be copied.
    #[error("operation {0} of the patch: more than {MOST_COPIED} bytes copied")]
    TooLarge(usize),
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum ForeignOperation {
    Add { path: String, value: Value },
    Remove { path: String },
    Replace { path: String, value: Value },
    Move { from: String, path: String },
    Copy { from: String, path: String },
    Test { path: String, value: Value },
}

/// Applies the text of a patch to a document whose nesting is within the limits of [`crate::json::scan`].
///
/// # Errors
///
/// Why it can't be applied; the document is then as before.
pub fn apply_foreign(document: &mut Value, patch: &[u8]) -> Result<(), ForeignPatchError> {
    let operations: Vec<ForeignOperation> = serde_json::from_slice(patch)
        .map_err(|error| ForeignPatchError::Malformed(error.to_string()))?;
    if operations.len() > MOST_OPERATIONS {
        return Err(ForeignPatchError::TooLong);
    }
    let mut patched = document.clone();
    let mut copied = 0;
    for (index, operation) in operations.into_iter().enumerate() {
        step(&mut patched, operation, index + 1, &mut copied)?;
    }
    *document = patched;
    Ok(())
}

fn step(
    document: &mut Value,
    operation: ForeignOperation,
    number: usize,
    copied: &mut usize,
) -> Result<(), ForeignPatchError> {
    let misfit = || ForeignPatchError::Misfit(number);
    let own = match operation {
        ForeignOperation::Add { path, value } => PatchOperation::Add { path, value },
        ForeignOperation::Remove { path } => PatchOperation::Remove { path },
        ForeignOperation::Replace { path, value } => PatchOperation::Replace { path, value },
        ForeignOperation::Move { from, path } => {
            let removal = PatchOperation::Remove { path: from };
            let value = removal.apply(document).ok().flatten().ok_or_else(misfit)?;
            PatchOperation::Add { path, value }
        }
        ForeignOperation::Copy { from, path } => {
            let value = document.pointer(&from).ok_or_else(misfit)?;
            *copied += size(value);
            if *copied > MOST_COPIED {
                return Err(ForeignPatchError::TooLarge(number));
            }
            let value = value.clone();
            PatchOperation::Add { path, value }
        }
        ForeignOperation::Test { path, value } => {
            // What is not there is null, as API servers take it.
            let found = document.pointer(&path).unwrap_or(&Value::Null);
            return match *found == value {
                true => Ok(()),
                false => Err(ForeignPatchError::Test(number)),
            };
        }
    };
    if let PatchOperation::Add { path, value } | PatchOperation::Replace { path, value } = &own {
        let above = path.bytes().filter(|byte| *byte == b'/').count();
        if above + depth(value) > MAX_DEPTH {
            return Err(ForeignPatchError::TooDeep(number));
        }
    }
    own.apply(document).map(drop).map_err(|_| misfit())
}

/// How many lists and objects are inside each other; never many, see [`apply_foreign`].
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// About how many bytes the text of a value has.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(list) => 2 + list.iter().map(|one| 1 + size(one)).sum::<usize>(),
        Value::Object(members) => {
            let members = members.iter();
            2 + members
                .map(|(key, one)| key.len() + 4 + size(one))
                .sum::<usize>()
        }
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(document: Value, patch: &Value) -> Result<Value, ForeignPatchError> {
        let mut document = document;
        apply_foreign(&mut document, patch.to_string().as_bytes()).map(|()| document)
    }

    #[test]
    fn every_operation_of_the_standard() {
        let document = json!({"a": {"b": [1, 2]}, "c": 3});
        for (patch, expected) in [
            (
                json!([{"op": "add", "path": "/d", "value": null}]),
                json!({"a": {"b": [1, 2]}, "c": 3, "d": null}),
            ),
            (
                json!([{"op": "remove", "path": "/a/b/0"}]),
                json!({"a": {"b": [2]}, "c": 3}),
            ),
            (
                json!([{"op": "replace", "path": "/c", "value": 4}]),
                json!({"a": {"b": [1, 2]}, "c": 4}),
            ),
            (
                json!([{"op": "move", "from": "/c", "path": "/a/b/-"}]),
                json!({"a": {"b": [1, 2, 3]}}),
            ),
            (
                json!([{"op": "copy", "from": "/a/b", "path": "/c"}]),
                json!({"a": {"b": [1, 2]}, "c": [1, 2]}),
            ),
            (
                json!([{"op": "test", "path": "/c", "value": 3},
                       {"op": "test", "path": "/x", "value": null},
                       {"op": "remove", "path": "/c"}]),
                json!({"a": {"b": [1, 2]}}),
            ),
        ] {
            assert_eq!(patched(document.clone(), &patch), Ok(expected), "{patch}");
        }
    }

    #[test]
    fn a_patch_that_fails_changes_nothing() {
        for (patch, error) in [
            (
                json!([{"op": "add", "path": "/x", "value": 1}, {"op": "remove", "path": "/y"}]),
                ForeignPatchError::Misfit(2),
            ),
            (
                json!([{"op": "test", "path": "/a", "value": 2}]),
                ForeignPatchError::Test(1),
            ),
            (
                json!([{"op": "move", "from": "/a", "path": "/a/b"}]),
                ForeignPatchError::Misfit(1),
            ),
            (
                json!([{"op": "copy", "from": "/z", "path": "/b"}]),
                ForeignPatchError::Misfit(1),
            ),
        ] {
            let mut document = json!({"a": 1});
            let applied = apply_foreign(&mut document, patch.to_string().as_bytes());
            assert_eq!(applied, Err(error), "{patch}");
            assert_eq!(document, json!({"a": 1}), "{patch}");
        }
    }

    #[test]
    fn what_is_not_a_patch() {
        for text in [
            "",
            "{}",
            "[1]",
            r#"[{"op":"grow","path":"/a"}]"#,
            r#"[{"op":"add","path":"/a"}]"#,
            r#"[{"op":"remove"}]"#,
            r#"[{"path":"/a","value":1}]"#,
        ] {
            let error = apply_foreign(&mut json!({}), text.as_bytes()).unwrap_err();
            assert!(matches!(error, ForeignPatchError::Malformed(_)), "{text}");
        }
    }

    #[test]
    fn nothing_grows_without_bound() {
        let doubling = |count: usize| {
            let one = json!({"op": "copy", "from": "/a", "path": "/a/-"});
            Value::Array(vec![one; count])
        };
        let error = patched(json!({"a": ["x".repeat(1 << 10)]}), &doubling(64)).unwrap_err();
        assert!(
            matches!(
                error,
                ForeignPatchError::TooLarge(_) | ForeignPatchError::TooDeep(_)
            ),
            "{error}"
        );
        let nest = json!({"op": "move", "from": "/a", "path": "/b"});
        let around = json!({"op": "add", "path": "/a", "value": {}});
        let into = json!({"op": "move", "from": "/b", "path": "/a/a"});
        let mut deeper = Vec::new();
        for _ in 0..MAX_DEPTH {
            deeper.extend([nest.clone(), around.clone(), into.clone()]);
        }
        let error = patched(json!({"a": {}}), &Value::Array(deeper)).unwrap_err();
        assert!(matches!(error, ForeignPatchError::TooDeep(_)), "{error}");
        let long = vec![json!({"op": "test", "path": "/x", "value": null}); MOST_OPERATIONS + 1];
        let error = patched(json!({}), &Value::Array(long)).unwrap_err();
        assert_eq!(error, ForeignPatchError::TooLong);
    }
}
