//! Unix sockets.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;

use serde_json::json;

use super::socket;
use crate::harness::{Connection, Folder, Gate, Review, Verdict, chain, pod, run_in};

fn with_sockets(order: &[&str], listeners: &[serde_json::Value]) -> serde_json::Value {
    let mut config = chain(order);
    config["listeners"] = listeners.into();
    config
}

#[track_caller]
fn answers(gate: &Gate, name: &str) {
    let mut connection = Connection::unix(&gate.folder.path(name)).unwrap();
    for _ in 0..3 {
        let review = Review::create(&pod());
        let answer = connection.post("/validate", &review.value()).unwrap();
        Verdict::of(&answer, &review).allowed();
    }
}

#[test]
fn sockets_answer_and_have_the_mode_asked_for() {
    let listeners = [
        socket("a", "0660"),
        socket("b", "0600"),
        socket("c", "0666"),
    ];
    let gate = Gate::start(with_sockets(&["AlwaysAdmit"], &listeners));
    for (name, mode) in [("a.sock", 0o660), ("b.sock", 0o600), ("c.sock", 0o666)] {
        let there = std::fs::metadata(gate.folder.path(name)).unwrap();
        assert!(there.file_type().is_socket());
        assert_eq!(there.permissions().mode() & 0o777, mode, "{name}");
        answers(&gate, name);
    }
}

#[test]
fn a_socket_nobody_listens_on_is_replaced() {
    // What a server leaves that was killed: a socket without a listener.
    let folder = Folder::new();
    drop(UnixListener::bind(folder.path("a.sock")).unwrap());
    assert!(folder.path("a.sock").exists());
    let unix = json!({"path": folder.text("a.sock")});
    let listener = json!({"name": "a", "unix": unix, "serves": ["kubernetes"]});
    let gate = Gate::start(with_sockets(&["AlwaysAdmit"], &[listener]));
    let mut connection = Connection::unix(&folder.path("a.sock")).unwrap();
    let review = Review::create(&pod());
    let answer = connection.post("/validate", &review.value()).unwrap();
    Verdict::of(&answer, &review).allowed();
    drop(gate);
}

#[test]
fn a_killed_gate_can_be_started_again_on_its_socket() {
    let folder = Folder::new();
    let path = folder.text("gate.sock");
    let listener = json!({"name": "a", "unix": {"path": path}, "serves": ["kubernetes"]});
    for _ in 0..2 {
        // Dropping kills, so the socket stays behind.
        let gate = Gate::start(with_sockets(
            &["AlwaysAdmit"],
            std::slice::from_ref(&listener),
        ));
        assert!(Connection::unix(&folder.path("gate.sock")).is_ok());
        drop(gate);
        assert!(folder.path("gate.sock").exists());
    }
}

#[test]
fn a_socket_somebody_listens_on_is_left_alone() {
    let gate = Gate::start(with_sockets(&["AlwaysAdmit"], &[socket("a", "0660")]));
    let other = Folder::new();
    let path = gate.folder.text("a.sock");
    let config =
        json!({"listeners": [{"name": "mine", "unix": {"path": path}, "serves": ["kubernetes"]}]});
    other.write("portcullis.yaml", config.to_string());
    let ran = run_in(
        &other,
        &["serve", "--config", "portcullis.yaml", "--data-dir", "data"],
    );
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    ran.says(&["mine", &path]);
    answers(&gate, "a.sock");
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let folder = Folder::new();
    folder.write("a.sock", "precious");
    let config = json!({"listeners": [socket("a", "0660")]});
    folder.write("portcullis.yaml", config.to_string());
    let ran = run_in(
        &folder,
        &["serve", "--config", "portcullis.yaml", "--data-dir", "data"],
    );
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    ran.says(&["a.sock"]);
    assert_eq!(std::fs::read(folder.path("a.sock")).unwrap(), b"precious");
}

#[test]
fn a_gate_that_ends_takes_its_sockets_away() {
    let mut gate = Gate::start(with_sockets(&["AlwaysAdmit"], &[socket("a", "0660")]));
    answers(&gate, "a.sock");
    gate.terminate();
    assert_eq!(gate.wait().code(), Some(0));
    assert!(!gate.folder.path("a.sock").exists());
}
