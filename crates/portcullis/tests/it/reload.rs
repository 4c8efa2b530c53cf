//! A configuration that changes while the server runs.

mod certificates;
mod empty;
mod files;
mod listeners;
mod waiting;

use serde_json::{Value, json};

use crate::harness::{Gate, Setup, access, chain, pod, until};

/// A chain that decides, and an attribute file that names who may.
fn with_attributes(order: &[&str]) -> Value {
    let mut config = chain(order);
    config["authorization"] = json!({
        "authorizers": [{"name": "local", "driver": "ABAC", "file": "abac.jsonl"}],
        "chains": {"local": ["local"]},
    });
    config
}

/// A line of an attribute file that lets a user do everything.
fn may(user: &str) -> String {
    let spec = json!({"user": user, "namespace": "*", "resource": "*"});
    let version = "abac.authorization.kubernetes.io/v1beta1";
    json!({"apiVersion": version, "kind": "Policy", "spec": spec}).to_string() + "\n"
}

fn gate_for(order: &[&str], user: &str) -> Gate {
    Setup::new(with_attributes(order))
        .file("abac.jsonl", may(user))
        .start()
}

fn is_let_in(gate: &Gate, user: &str) -> bool {
    gate.access("/authorize/local", &access("v1", user, &[], &json!({})))["allowed"] == true
}

fn is_open(gate: &Gate) -> bool {
    gate.validate(&pod()).is_allowed()
}

#[track_caller]
fn becomes(gate: &Gate, open: bool) {
    until(
        if open {
            "the gate opens"
        } else {
            "the gate shuts"
        },
        || is_open(gate) == open,
    );
}
