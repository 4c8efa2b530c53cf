//! Objects of a small garden, its agents, and their requests.

use serde_json::{Value, json};

use crate::{Client, until};

/// The path of an object's file below the folder of a gate.
#[must_use]
pub fn place(object: &Value) -> String {
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or("")
    };
    let (kind, namespace) = (text("/kind"), text("/metadata/namespace"));
    format!("objects/{kind}-{namespace}-{}.yaml", text("/metadata/name")).to_lowercase()
}

/// A seed.
#[must_use]
pub fn seed(name: &str) -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed", "metadata": {"name": name, "uid": format!("uid-{name}")},
        "spec": {"provider": {"type": "local"}, "dns": {}}})
}

/// A shoot on a seed.
#[must_use]
pub fn shoot(name: &str, seed: &str) -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": {"name": name, "namespace": "garden-a", "uid": name},
        "spec": {"seedName": seed, "secretBindingName": "binding", "cloudProfile": {"kind": "CloudProfile", "name": "local"}}})
}

/// The binding of the shoot to a secret.
#[must_use]
pub fn binding(secret: &str) -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": {"name": "binding", "namespace": "garden-a"}, "secretRef": {"namespace": "garden-a", "name": secret}})
}

/// A bastion on a seed.
#[must_use]
pub fn bastion(name: &str, seed: &str) -> Value {
    json!({"apiVersion": "operations.gardener.cloud/v1alpha1", "kind": "Bastion",
        "metadata": {"name": name, "namespace": "garden-a"}, "spec": {"seedName": seed}})
}

/// Two seeds, a shoot on the first, its credentials.
#[must_use]
pub fn garden() -> Vec<Value> {
    vec![
        seed("one"),
        seed("two"),
        shoot("crane", "one"),
        binding("infra"),
    ]
}

/// A profile over `objects`, in a chain of its own name.
#[must_use]
pub fn config(profile: &str) -> Value {
    json!({
        "graph": {"profiles": [{"name": profile, "profile": profile, "objects": "objects"}]},
        "authorization": {"chains": {profile: [profile]}},
    })
}

/// The gardenlet of a seed.
#[must_use]
pub fn gardenlet(seed: &str) -> (String, Vec<String>) {
    (
        format!("gardener.cloud:system:seed:{seed}"),
        vec!["gardener.cloud:system:seeds".to_owned()],
    )
}

/// `get secrets garden-a/infra`: an access review.
#[must_use]
pub fn review(who: &(String, Vec<String>), request: &str) -> Value {
    let words: Vec<&str> = request.split(' ').collect();
    let [verb, resource, object] = words[..] else {
        panic!("{request}: want VERB RESOURCE NAMESPACE/NAME");
    };
    let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
    let (namespace, name) = object.split_once('/').unwrap_or(("", object));
    json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": who.0, "groups": who.1, "resourceAttributes":
            {"verb": verb, "group": group, "resource": resource, "namespace": namespace, "name": name}}})
}

/// Whether the gardenlet of a seed may; it is never explicitly denied.
#[track_caller]
pub fn may(gate: &Client, seed: &str, request: &str) -> bool {
    let status = gate.access("/authorize/gardener", &review(&gardenlet(seed), request));
    assert_ne!(status["denied"], true, "{status}");
    assert!(status.get("evaluationError").is_none(), "{status}");
    status["allowed"] == true
}

/// Waits until the gardenlet of a seed may, or may not.
#[track_caller]
pub fn comes_true(gate: &Client, seed: &str, request: &str, wanted: bool) {
    let what = format!("{seed} {request}: {wanted}");
    until(&what, || may(gate, seed, request) == wanted);
}
