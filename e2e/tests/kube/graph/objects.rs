//! What all objects have in common.

use serde_json::{Value, json};

/// An object: `namespace/name` or `name`, and its members besides the metadata.
pub(crate) fn object(api_version: &str, kind: &str, key: &str, members: Value) -> Value {
    let (namespace, name) = key.rsplit_once('/').unwrap_or(("", key));
    let mut object = members;
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    object["metadata"]["name"] = name.into();
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

/// All of them as one document.
pub(crate) fn list(objects: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": objects})
}

pub(crate) fn namespace(name: &str) -> Value {
    object("v1", "Namespace", name, json!({}))
}

pub(crate) fn secret(key: &str) -> Value {
    object("v1", "Secret", key, json!({}))
}
