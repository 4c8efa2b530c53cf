//! Decisions as they come.

use portcullis_testing::Events;
use serde_json::json;

use super::{creation, gate};
use crate::harness::{Connection, Gate};

fn open(gate: &Gate, query: &str) -> Events {
    let connection = Connection::unix(&gate.folder.path("api.sock"));
    Events::open(connection.unwrap(), query, &[])
}

#[test]
fn a_stream_tells_decisions_as_they_come() {
    let gate = gate(&json!({}));
    gate.ask("/validate", &creation("before", "alice"))
        .allowed();
    super::items(&gate, "");
    let mut all = open(&gate, "");
    let mut of_bob = open(&gate, "?user=bob");
    for (name, user) in [("a", "alice"), ("b", "bob"), ("c", "alice")] {
        gate.ask("/validate", &creation(name, user)).allowed();
    }
    let mut names: Vec<String> = Vec::new();
    while names.len() < 3 {
        let name = all.data()["name"].as_str().unwrap().to_owned();
        names.extend(Some(name).filter(|name| name != "before"));
    }
    // Those that were stored at different times may have been overtaken.
    names.sort();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(of_bob.data()["name"], "b");
}

#[test]
fn a_stream_ends_with_the_server() {
    let mut gate = gate(&json!({}));
    let mut events = open(&gate, "");
    gate.terminate();
    assert!(events.is_closed());
    assert!(gate.wait().success());
}
