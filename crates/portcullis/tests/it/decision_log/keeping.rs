//! Where decisions are stored, and what happens when they can't be.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{creation, gate, kept};
use crate::harness::{Gate, Setup, access, chain, pod, until};

#[test]
fn decisions_are_kept_in_the_data_directory_and_survive_the_server() {
    let mut gate = gate(&json!({}));
    for name in ["a", "b", "c"] {
        gate.ask("/validate", &creation(name, "alice")).allowed();
    }
    // What was answered is recorded, even if the server is stopped right after.
    gate.terminate();
    assert!(gate.wait().success());
    let kept = kept(&gate.folder, &["--data-dir", "data"], 3);
    let names: Vec<&Value> = kept.iter().map(|d| &d["name"]).collect();
    assert_eq!(names, ["c", "b", "a"], "newest first");
    let mode = gate.folder.path("data/portcullis.db").metadata().unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
}

#[test]
fn lines_of_json_go_to_a_file_or_to_standard_output() {
    for place in ["decisions.jsonl", "-"] {
        let mut gate = gate(&json!({"decisions": {"store": false, "jsonLines": place}}));
        gate.ask("/validate", &creation("a", "alice")).allowed();
        gate.ask("/validate", &creation("b", "bob")).allowed();
        gate.terminate();
        assert!(gate.wait().success());
        let text = match place {
            "-" => gate.out(),
            file => std::fs::read_to_string(gate.folder.path(file)).unwrap(),
        };
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(lines[0]["name"], "a");
        assert_eq!(lines[1]["user"], "bob");
        assert_eq!(
            lines[1]["input"]["review"]["request"]["object"]["metadata"]["name"],
            "b"
        );
        assert!(lines[1]["trace"].is_array());
        assert!(!gate.folder.path("data/portcullis.db").exists());
    }
}

#[test]
fn a_store_that_cannot_be_opened_ends_the_start() {
    for (file, why) in [
        ("data/portcullis.db", "the store can't be opened"),
        ("data", "the data directory `data`: it is not a directory"),
    ] {
        let setup = Setup::new(chain(&["AlwaysAdmit"])).file(file, "a file of another kind");
        let ran = setup.run();
        assert_eq!(ran.code, Some(5), "{}", ran.err);
        ran.says(&[why]);
    }
}

#[test]
fn what_is_refused_in_the_configuration_is_named() {
    for (config, what) in [
        (json!({"store": {"url": "mysql://x"}}), "store.url"),
        (
            json!({"decisions": {"mask": ["$.ok", "spec["]}}),
            "decisions.mask[1]",
        ),
        (
            json!({"decisions": {"retention": "0s"}}),
            "decisions.retention",
        ),
        (json!({"decisions": {"maxSize": 0}}), "decisions.maxSize"),
        (json!({"decisions": {"maxInput": 10}}), "decisions.maxInput"),
        (
            json!({"decisions": {"required": true, "store": false}}),
            "decisions.required",
        ),
        (
            json!({"decisions": {"retain": "7d"}}),
            "decisions.retain: unknown key",
        ),
    ] {
        let ran = Setup::new(config).run();
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        ran.says(&[what]);
    }
}

#[test]
fn where_decisions_are_required_an_answer_means_that_it_is_kept() {
    let gate = gate(&json!({"decisions": {"required": true}}));
    for number in 0..20 {
        let name = format!("p{number}");
        gate.ask("/validate", &creation(&name, "alice")).allowed();
        // No waiting: it is there when the answer is.
        let found = super::items(&gate, "?limit=1");
        assert_eq!(found[0]["name"], name.as_str());
    }
}

#[test]
fn where_decisions_are_required_and_cannot_be_kept_everything_is_refused() {
    let config = json!({
        "admission": {"order": ["AlwaysAdmit"]},
        "authorization": {"chains": {"default": ["AlwaysAllow"]}},
        "decisions": {"required": true},
        "limits": {"requestDeadline": "500ms"},
    });
    let gate = Setup::new(config).start();
    gate.validate(&pod()).allowed();
    let lock = Lock::on(&gate);
    let verdict = gate.validate(&pod());
    verdict.denied("the decision could not be recorded");
    assert_eq!(verdict.0["status"]["code"], 500);
    let access = gate.access("/authorize", &access("v1", "carol", &[], &json!({})));
    assert_eq!(access["allowed"], false);
    assert!(
        access["evaluationError"]
            .as_str()
            .unwrap()
            .contains("recorded")
    );
    let dropped = gate.metrics().total(
        "portcullis_decision_log_dropped_total",
        &[("reason", "not_kept")],
    );
    assert!(dropped >= 2.0);
    until("unready", || {
        gate.get("/readyz?verbose").text().contains("[-]store")
    });
    drop(lock);
    until("decisions again", || gate.validate(&pod()).is_allowed());
    until("ready again", || gate.is_ready());
}

#[test]
fn required_lines_that_cannot_be_written_refuse_too() {
    let gate = gate(&json!({
        "decisions": {"store": false, "required": true, "jsonLines": "later/d.jsonl"},
        "limits": {"requestDeadline": "5s"},
    }));
    gate.validate(&pod())
        .denied("the decision could not be recorded");
    std::fs::create_dir(gate.folder.path("later")).unwrap();
    gate.validate(&pod()).allowed();
    let lines = std::fs::read_to_string(gate.folder.path("later/d.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 1);
}

#[test]
fn a_writer_that_is_stuck_does_not_keep_the_server_from_ending() {
    let config = json!({
        "admission": {"order": ["AlwaysAdmit"]},
        "decisions": {"store": false, "jsonLines": "pipe"},
        "shutdown": {"delay": "0s", "grace": "100ms"},
    });
    let setup = Setup::new(config);
    let made = std::process::Command::new("mkfifo")
        .arg(setup.path("pipe"))
        .status();
    assert!(made.unwrap().success());
    // It has no reader, so opening it never ends.
    let mut gate = setup.start();
    gate.validate(&pod()).allowed();
    gate.terminate();
    assert!(gate.wait().success());
    assert!(
        gate.log().contains("the writer does not stop"),
        "{}",
        gate.log()
    );
}

#[test]
fn a_store_that_does_not_answer_holds_up_nobody_unless_told_to() {
    let gate = Setup::new(chain(&["AlwaysAdmit"])).start();
    let lock = Lock::on(&gate);
    for _ in 0..50 {
        gate.validate(&pod()).allowed();
    }
    drop(lock);
    kept(&gate.folder, &["--data-dir", "data"], 50);
}

#[test]
fn decisions_that_cannot_be_stored_before_the_end_are_counted_and_named() {
    for lines in [None, Some("d.jsonl")] {
        let config = json!({
            "admission": {"order": ["AlwaysAdmit"]},
            "decisions": {"jsonLines": lines},
            "shutdown": {"delay": "0s", "grace": "200ms"},
        });
        let mut gate = Setup::new(config).start();
        let lock = Lock::on(&gate);
        let ids: Vec<String> = (0..3)
            .map(|_| {
                let verdict = gate.validate(&pod());
                let id = &verdict.0["auditAnnotations"]["decision-id"];
                id.as_str().unwrap().to_owned()
            })
            .collect();
        if lines.is_some() {
            until("the lines are written", || {
                std::fs::read_to_string(gate.folder.path("d.jsonl"))
                    .is_ok_and(|text| text.lines().count() == 3)
            });
        }
        gate.terminate();
        assert!(gate.wait().success());
        drop(lock);
        let log = gate.log();
        let said = "3 decisions could not be stored before the server ended";
        assert!(log.contains(said), "{log}");
        for id in ids {
            assert!(log.contains(&id), "{id}: {log}");
        }
        assert!(log.trim_end().ends_with("stopped"), "{log}");
    }
}

#[test]
fn a_second_signal_ends_the_waiting_for_the_store() {
    let config = json!({
        "admission": {"order": ["AlwaysAdmit"]},
        "shutdown": {"delay": "0s", "grace": "10m"},
    });
    let mut gate = Setup::new(config).start();
    let _lock = Lock::on(&gate);
    gate.validate(&pod()).allowed();
    until("the decision is waiting", || {
        gate.metrics().total("portcullis_decision_log_waiting", &[]) >= 1.0
    });
    gate.terminate();
    until("it has begun to end", || gate.log().contains("draining"));
    gate.terminate();
    assert!(gate.wait().success());
    let said = "1 decision could not be stored before the server ended, lost: ";
    assert!(gate.log().contains(said), "{}", gate.log());
}

#[test]
fn large_reviews_are_kept_without_their_objects() {
    let gate = gate(&json!({"decisions": {"maxInput": "4Ki"}}));
    let mut large = creation("large", "alice");
    large = large.set("oldObject", json!({"x": "y".repeat(8192)}));
    gate.ask("/validate", &creation("small", "alice")).allowed();
    gate.ask("/validate", &large).allowed();
    let found = kept(&gate.folder, &["--data-dir", "data"], 2);
    let id = found[0]["id"].as_str().unwrap();
    let whole = super::ask(&gate, &format!("/api/v1/decisions/{id}")).json();
    assert_eq!(
        whole["input"]["truncated"],
        json!(["/review/request/oldObject"])
    );
    assert_eq!(whole["name"], "large");
    let truncated = gate.metrics().total(
        "portcullis_decision_log_truncated_total",
        &[("reason", "max_input")],
    );
    assert_eq!(truncated, 1.0);
}

/// Keeps everybody from writing into the store.
struct Lock {
    connection: rusqlite::Connection,
}

impl Lock {
    fn on(gate: &Gate) -> Self {
        let connection = rusqlite::Connection::open(gate.folder.path("data/portcullis.db"));
        let connection = connection.unwrap();
        connection.busy_timeout(crate::harness::PATIENCE).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Self { connection }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.connection.execute_batch("ROLLBACK");
    }
}
