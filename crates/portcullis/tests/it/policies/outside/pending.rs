//! Host calls that are under way when the server reloads or ends.

use serde_json::{Value, json};

use crate::harness::{Connection, Controller, Folder, Gate, Verdict, until, yes};
use crate::policies::{named, native};

fn config(url: &str, answer: &str) -> Value {
    let code = format!(
        "if (req.name === 'which') return '{answer}'\n\
         return forwardToAdmissionController({url:?}) === true ? '{answer} after waiting' : 'no'"
    );
    let mut config = native(&[("P", &code)]);
    config["hostCalls"] = json!({"forwardTo": [url]});
    config["limits"] = json!({"deadline": "25s", "requestDeadline": "28s"});
    config["shutdown"] = json!({"delay": "0s", "grace": "1s"});
    config
}

/// Sends a review that will wait, and says when it does.
fn waiting(gate: &Gate, other: &Controller) -> Connection {
    let mut connection = Connection::tcp(gate.port).unwrap();
    let text = named("slow").text();
    let bytes = crate::harness::request("POST", "/validate", &[], text.as_bytes());
    connection.send(&bytes).unwrap();
    until("the review is forwarded", || !other.seen().is_empty());
    connection
}

#[test]
fn a_reload_leaves_them_alone() {
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), yes);
    other.hold();
    let gate = Gate::start(config(&other.url, "old"));
    let mut slow = waiting(&gate, &other);
    gate.configure(config(&other.url, "new"));
    gate.hang_up();
    until("the new policies answer", || {
        gate.ask("/validate", &named("which")).message() == "P: new"
    });
    other.release();
    let verdict = Verdict::of(&slow.receive().expect("no answer"), &named("slow"));
    assert_eq!(verdict.message(), "P: old after waiting");
}

#[test]
fn a_gate_that_ends_does_not_wait_for_them() {
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), yes);
    other.hold();
    let mut gate = Gate::start(config(&other.url, "old"));
    let slow = waiting(&gate, &other);
    gate.terminate();
    let status = gate.wait();
    assert!(status.code().is_some(), "{status}");
    drop(slow);
}

#[test]
fn a_client_that_leaves_hinders_nobody() {
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), yes);
    other.hold();
    let mut gate = Gate::start(config(&other.url, "old"));
    drop(waiting(&gate, &other));
    let verdict = gate.ask("/validate", &named("which"));
    assert_eq!(verdict.message(), "P: old");
    other.release();
    let verdict = gate.ask("/validate", &named("slow"));
    assert_eq!(verdict.message(), "P: old after waiting");
    gate.lives();
}
