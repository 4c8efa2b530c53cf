//! Objects the tests send.

use serde_json::{Value, json};

/// The image of every container that is not about images.
pub(crate) const IMAGE: &str = "registry.example/app:1";

/// A pod with one container `app`, and `fields` in its specification on top.
pub(crate) fn pod(name: &str, fields: Value) -> Value {
    let mut spec = json!({"containers": [{"name": "app", "image": IMAGE}]});
    merge(&mut spec, fields);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
}

/// A pod whose one container has these `fields` too.
pub(crate) fn pod_of_container(name: &str, fields: Value) -> Value {
    let mut container = json!({"name": "app", "image": IMAGE});
    merge(&mut container, fields);
    pod(name, json!({"containers": [container]}))
}

/// A pod that `baseline` refuses.
pub(crate) fn privileged_pod(name: &str) -> Value {
    pod_of_container(name, json!({"securityContext": {"privileged": true}}))
}

/// A pod that `restricted` lets pass.
pub(crate) fn restricted_pod(name: &str) -> Value {
    pod_of_container(
        name,
        json!({"securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": true,
            "seccompProfile": {"type": "RuntimeDefault"},
        }}),
    )
}

/// A deployment of that pod.
pub(crate) fn deployment(name: &str, pod: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod["spec"]},
        },
    })
}

/// A service with one port, and `fields` in its specification on top.
pub(crate) fn service(name: &str, fields: Value) -> Value {
    let mut spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    merge(&mut spec, fields);
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
}

/// An empty `ConfigMap`.
pub(crate) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// `count` events about one pod.
pub(crate) fn events(prefix: &str, namespace: &str, count: usize) -> Value {
    let items = (0..count).map(|number| {
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": format!("{prefix}-{number}"), "namespace": namespace},
            "involvedObject": {"kind": "Pod", "name": "web", "namespace": namespace},
            "reason": "Testing", "message": "one more", "type": "Normal",
        })
    });
    list(&items.collect::<Vec<_>>())
}

/// Several objects in one manifest.
pub(crate) fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// The tolerations of a pod as `key effect seconds`, in order.
pub(crate) fn tolerations(pod: &Value) -> Vec<String> {
    let Some(tolerations) = pod["spec"]["tolerations"].as_array() else {
        return Vec::new();
    };
    tolerations
        .iter()
        .map(|toleration| {
            let text = |key: &str| toleration[key].as_str().unwrap_or("*").to_owned();
            let seconds = toleration["tolerationSeconds"].as_u64();
            let seconds = seconds
                .map(|seconds| format!(" {seconds}s"))
                .unwrap_or_default();
            format!("{} {}{seconds}", text("key"), text("effect"))
        })
        .collect()
}

fn merge(object: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else {
        panic!("not an object: {fields}")
    };
    for (key, value) in fields {
        object[key] = value;
    }
}
