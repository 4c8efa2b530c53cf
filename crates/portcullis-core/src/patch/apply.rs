//! Patches applied, as RFC 6902 says.

use serde_json::Value;

use super::PatchOperation;
use crate::pointer;

/// A patch that does not fit the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the patch does not fit the document")]
pub struct Misfit;

/// Applies the steps of a patch, in order.
///
/// # Errors
///
/// If a step doesn't fit; those before it are done.
pub fn apply(document: &mut Value, patch: &[PatchOperation]) -> Result<(), Misfit> {
    patch
        .iter()
        .try_for_each(|step| step.apply(document).map(drop))
}

impl PatchOperation {
    /// Does this step, and gives the value that it took away or replaced.
    ///
    /// # Errors
    ///
    /// If it doesn't fit; then nothing is changed.
    pub fn apply(&self, document: &mut Value) -> Result<Option<Value>, Misfit> {
        let (Self::Add { path, .. } | Self::Remove { path } | Self::Replace { path, .. }) = self;
        if path.is_empty() {
            return match self {
                Self::Add { value, .. } | Self::Replace { value, .. } => {
                    Ok(Some(std::mem::replace(document, value.clone())))
                }
                Self::Remove { .. } => Err(Misfit),
            };
        }
        let (holder, key) = pointer::split_last(path).ok_or(Misfit)?;
        match document.pointer_mut(holder).ok_or(Misfit)? {
            Value::Object(members) => match self {
                Self::Add { value, .. } => Ok(members.insert(key.into_owned(), value.clone())),
                Self::Replace { value, .. } => {
                    let old = members.get_mut(key.as_ref()).ok_or(Misfit)?;
                    Ok(Some(std::mem::replace(old, value.clone())))
                }
                Self::Remove { .. } => members.remove(key.as_ref()).map(Some).ok_or(Misfit),
            },
            Value::Array(list) => self.apply_to_list(list, &key),
            _ => Err(Misfit),
        }
    }

    fn apply_to_list(&self, list: &mut Vec<Value>, key: &str) -> Result<Option<Value>, Misfit> {
        let index = pointer::index(key);
        match self {
            Self::Add { value, .. } => {
                let is_end = key == "-";
                let index = if is_end { Some(list.len()) } else { index };
                let index = index.filter(|index| *index <= list.len()).ok_or(Misfit)?;
                list.insert(index, value.clone());
                Ok(None)
            }
            Self::Replace { value, .. } => {
                let old = index.and_then(|index| list.get_mut(index)).ok_or(Misfit)?;
                Ok(Some(std::mem::replace(old, value.clone())))
            }
            Self::Remove { .. } => {
                let index = index.filter(|index| *index < list.len()).ok_or(Misfit)?;
                Ok(Some(list.remove(index)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(step: Value) -> PatchOperation {
        serde_json::from_value(step).unwrap()
    }

    /// From appendix A of RFC 6902, and some of our own.
    #[test]
    fn steps_do_what_the_standard_says() {
        for (document, operation, expected, was) in [
            (
                json!({"foo": "bar"}),
                json!({"op": "add", "path": "/baz", "value": "qux"}),
                json!({"baz": "qux", "foo": "bar"}),
                None,
            ),
            (
                json!({"foo": ["bar", "baz"]}),
                json!({"op": "add", "path": "/foo/1", "value": "qux"}),
                json!({"foo": ["bar", "qux", "baz"]}),
                None,
            ),
            (
                json!({"baz": "qux", "foo": "bar"}),
                json!({"op": "remove", "path": "/baz"}),
                json!({"foo": "bar"}),
                Some(json!("qux")),
            ),
            (
                json!({"foo": ["bar", "qux", "baz"]}),
                json!({"op": "remove", "path": "/foo/1"}),
                json!({"foo": ["bar", "baz"]}),
                Some(json!("qux")),
            ),
            (
                json!({"baz": "qux", "foo": "bar"}),
                json!({"op": "replace", "path": "/baz", "value": "boo"}),
                json!({"baz": "boo", "foo": "bar"}),
                Some(json!("qux")),
            ),
            (
                json!({"foo": "bar"}),
                json!({"op": "add", "path": "/child", "value": {"grandchild": {}}}),
                json!({"foo": "bar", "child": {"grandchild": {}}}),
                None,
            ),
            (
                json!({"foo": ["bar"]}),
                json!({"op": "add", "path": "/foo/-", "value": ["abc", "def"]}),
                json!({"foo": ["bar", ["abc", "def"]]}),
                None,
            ),
            (
                json!({"foo": ["bar", "baz"]}),
                json!({"op": "replace", "path": "/foo/0", "value": 1}),
                json!({"foo": [1, "baz"]}),
                Some(json!("bar")),
            ),
            (
                json!({"x/y": {"~": 0}}),
                json!({"op": "replace", "path": "/x~1y/~0", "value": 1}),
                json!({"x/y": {"~": 1}}),
                Some(json!(0)),
            ),
            (
                json!({"foo": null}),
                json!({"op": "add", "path": "/foo", "value": 1}),
                json!({"foo": 1}),
                Some(json!(null)),
            ),
            (
                json!({"foo": 1}),
                json!({"op": "replace", "path": "", "value": []}),
                json!([]),
                Some(json!({"foo": 1})),
            ),
        ] {
            let mut patched = document;
            let done = step(operation.clone()).apply(&mut patched);
            assert_eq!(done, Ok(was), "{operation}");
            assert_eq!(patched, expected, "{operation}");
        }
    }

    #[test]
    fn a_step_that_does_not_fit_changes_nothing() {
        for operation in [
            json!({"op": "remove", "path": "/b"}),
            json!({"op": "remove", "path": ""}),
            json!({"op": "remove", "path": "/a/1"}),
            json!({"op": "remove", "path": "/a/-"}),
            json!({"op": "replace", "path": "/b", "value": 1}),
            json!({"op": "replace", "path": "/a/1", "value": 1}),
            json!({"op": "add", "path": "/b/c", "value": 1}),
            json!({"op": "add", "path": "/a/2", "value": 1}),
            json!({"op": "add", "path": "/a/01", "value": 1}),
            json!({"op": "add", "path": "/a/x", "value": 1}),
            json!({"op": "add", "path": "/a/0/x", "value": 1}),
            json!({"op": "add", "path": "a", "value": 1}),
        ] {
            let mut document = json!({"a": [1]});
            let done = step(operation.clone()).apply(&mut document);
            assert_eq!(done, Err(Misfit), "{operation}");
            assert_eq!(document, json!({"a": [1]}), "{operation}");
        }
    }
}
