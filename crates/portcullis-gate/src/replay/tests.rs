//! Decisions that are made, recorded and replayed.

mod actions;
mod examples;
mod outgoing;
mod policies;
mod record;
mod whole;

use serde_json::{Value, json};

/// A pod of a namespace, with a value that is masked in its record.
fn pod(name: &str, image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "app", "image": image, "env": [
            {"name": "PLAIN", "value": "p1"}, {"name": "TOKEN", "value": "t0ps3cret"}]}]}})
}

/// A review of this object.
fn review(operation: &str, object: &Value, old: &Value) -> Value {
    let about = if object.is_null() { old } else { object };
    let (group, version) = match about["apiVersion"].as_str().unwrap().split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", about["apiVersion"].as_str().unwrap()),
    };
    let kind = about["kind"].as_str().unwrap();
    let resource = format!("{}s", kind.to_lowercase());
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "00000000-0000-4000-8000-000000000000",
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": resource},
        "name": about["metadata"]["name"], "namespace": "shop", "operation": operation,
        "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
        "object": object, "oldObject": old, "dryRun": false, "options": null}})
}

fn create(object: &Value) -> Value {
    review("CREATE", object, &Value::Null)
}
