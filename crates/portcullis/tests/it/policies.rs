//! Policies in JavaScript, asked over the wire.

mod acjs;
mod cases;
mod context;
mod documentation;
mod hostile;
mod isolation;
mod meaning;
mod open;
mod outside;
mod reload;

use serde_json::{Value, json};

use crate::harness::{Gate, Review, Setup};

/// The pod that most policies here are asked about.
fn fruit() -> Value {
    json!({
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"a": "1"}},
        "spec": {"containers": [{"name": "apple", "image": "img", "args": ["a", "b", "c"]}]},
    })
}

/// Its creation by bob.
fn review_of(object: &Value) -> Review {
    Review::create(object)
        .set("uid", "u1")
        .set("name", "p1")
        .set("namespace", "ns1")
        .set("userInfo", json!({"username": "bob", "groups": ["staff"]}))
}

/// The creation of something whose name tells the policies what to do.
fn named(name: &str) -> Review {
    review_of(&fruit()).set("name", name)
}

/// A configuration of our own with these policies, each a name and a text.
fn native(policies: &[(&str, &str)]) -> Value {
    let list = policies.iter();
    let list = list.map(|(name, code)| json!({"name": name, "code": code}));
    json!({"policies": list.collect::<Vec<_>>()})
}

/// A gate with a policy folder of these files.
fn gate_with_folder(files: &[(&str, &str)]) -> Gate {
    let config = json!({"policyDirs": ["policies"], "defaultAction": "allow"});
    let setup = files
        .iter()
        .fold(Setup::new(config), |setup, (name, text)| {
            setup.file(&format!("policies/{name}"), text)
        });
    setup.start()
}
