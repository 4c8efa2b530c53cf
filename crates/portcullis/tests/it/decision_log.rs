//! The decision log from outside: what is recorded, who may read it, and what happens when it fails.

mod author;
mod keeping;
mod postgres;
mod reload;
mod rest;
mod secrets;
mod stream;

use serde_json::{Value, json};

use crate::harness::{Answer, Connection, Folder, Gate, Review, Setup, eventually, run_in};

/// A configuration whose REST API is at a unix socket.
fn with_socket(mut config: Value) -> Value {
    let socket = json!({"name": "api", "unix": {"path": "api.sock"}, "serves": ["api"]});
    config["listeners"] = json!([socket]);
    config
}

/// Asks the REST API at the unix socket.
#[track_caller]
fn ask(gate: &Gate, path: &str) -> Answer {
    let socket = gate.folder.path("api.sock");
    let mut connection = Connection::unix(&socket).unwrap();
    connection.ask("GET", path, b"").expect("no answer")
}

/// What a list over REST holds.
#[track_caller]
fn items(gate: &Gate, query: &str) -> Vec<Value> {
    let answer = ask(gate, &format!("/api/v1/decisions{query}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().clone()
}

/// What the command line lists of a data directory, once there are so many.
#[track_caller]
fn kept(folder: &Folder, store: &[&str], count: usize) -> Vec<Value> {
    let arguments = [&["decisions", "list", "-o", "json", "--limit", "0"], store].concat();
    eventually("as many decisions as were made", || {
        let ran = run_in(folder, &arguments);
        let list: Value = serde_json::from_str(&ran.out).ok()?;
        let items = list["items"].as_array().unwrap().clone();
        assert!(items.len() <= count, "{} of {count}: {list}", items.len());
        (items.len() == count).then_some(items)
    })
}

/// The creation of a pod of this name by this user.
fn creation(name: &str, user: &str) -> Review {
    let mut pod = crate::harness::pod();
    pod["metadata"]["name"] = name.into();
    Review::create(&pod).set("userInfo", json!({"username": user}))
}

/// A gate that admits everything, with these further keys.
fn gate(more: &Value) -> Gate {
    let mut config = with_socket(crate::harness::chain(&["AlwaysAdmit"]));
    for (key, value) in more.as_object().unwrap() {
        config[key] = value.clone();
    }
    Setup::new(config).start()
}
