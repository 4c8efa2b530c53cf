//! The pods that are created.

use serde_json::{Value, json};

/// Three containers with everything real ones have.
const POD: &str = include_str!("../../../../benches/fixtures/pod.json");

/// A pod of that name with a volume that the reference policies replace, as a client sends it.
pub(crate) fn body(namespace: &str, name: &str) -> Vec<u8> {
    let mut pod: Value = serde_json::from_str(POD).expect("the fixture is JSON");
    if let Some(metadata) = pod.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        // What the API server or a controller gives.
        for key in [
            "uid",
            "creationTimestamp",
            "generateName",
            "ownerReferences",
            "resourceVersion",
            "managedFields",
        ] {
            metadata.remove(key);
        }
        metadata.insert("name".to_owned(), json!(name));
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    if let Some(spec) = pod.pointer_mut("/spec").and_then(Value::as_object_mut) {
        // These would have to exist.
        for key in [
            "priorityClassName",
            "priority",
            "nodeName",
            "runtimeClassName",
        ] {
            spec.remove(key);
        }
    }
    if let Some(volumes) = pod
        .pointer_mut("/spec/volumes")
        .and_then(Value::as_array_mut)
    {
        let repository = "https://git.example.com/shop/templates.git";
        volumes.push(
            json!({"name": "templates", "gitRepo": {"repository": repository, "revision": "v4"}}),
        );
    }
    if let Some(pod) = pod.as_object_mut() {
        pod.remove("status");
    }
    pod.to_string().into_bytes()
}
