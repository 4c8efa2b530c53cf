//! The Kubernetes objects of the examples.

use serde_json::{Value, json};

/// A pod that even strict rules allow.
pub(super) fn careful_pod(namespace: &str, name: &str) -> Value {
    pod(
        namespace,
        name,
        &json!({
            "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "app",
                "image": "registry.example/shop/web:1.4.2",
                "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
            }],
        }),
    )
}

/// A pod whose image has no version: allowed, with warnings.
pub(super) fn hasty_pod(namespace: &str, name: &str) -> Value {
    let containers = json!([{"name": "app", "image": "nginx:latest"}]);
    pod(namespace, name, &json!({"containers": containers}))
}

/// A pod that has all of its node.
pub(super) fn privileged_pod(namespace: &str, name: &str) -> Value {
    let containers = json!([{
        "name": "debug",
        "image": "busybox:1.37",
        "securityContext": {"privileged": true},
    }]);
    pod(namespace, name, &json!({"containers": containers}))
}

/// A pod that mounts a directory of its node.
pub(super) fn mounting_pod(namespace: &str, name: &str) -> Value {
    let containers = json!([{"name": "agent", "image": "registry.example/ops/agent:2.0"}]);
    let volumes = json!([{"name": "logs", "hostPath": {"path": "/var/log"}}]);
    pod(
        namespace,
        name,
        &json!({"containers": containers, "volumes": volumes}),
    )
}

fn pod(namespace: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": spec,
    })
}

/// A deployment with so many replicas.
pub(super) fn deployment(namespace: &str, name: &str, replicas: u32) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "api", "image": "registry.example/pay/api:3.1"}]},
            },
        },
    })
}

/// A service that is open to the outside.
pub(super) fn service(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "LoadBalancer", "selector": {"app": name}, "ports": [{"port": 80}]},
    })
}

/// A config map.
pub(super) fn config_map(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"level": "info"},
    })
}
