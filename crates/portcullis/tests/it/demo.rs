//! `portcullis demo`: what it sends, what it says of the answers, and how it ends.

use serde_json::{Value, json};

use crate::harness::{
    Demonstration, Folder, Ran, Rest, RestAnswer, RestCall, free_port, run, until,
};

#[track_caller]
fn demo(server: &str, arguments: &[&str]) -> Ran {
    run(&[&["demo", "--rate", "1000/s", "--server", server], arguments].concat())
}

/// A server that allows all, and whose jobs wait.
fn obedient(call: &RestCall) -> RestAnswer {
    let answer = match call.line.split(' ').next_back() {
        Some("/validate" | "/mutate") => json!({"response": {"allowed": true}}),
        Some("/authorize") => json!({"status": {"allowed": true}}),
        Some("/api/v1/jobs" | "/api/v1/pipelines") => json!({"id": 1, "status": "preparing"}),
        _ => json!({"items": []}),
    };
    (200, answer.to_string())
}

/// The cells of the row that begins with this word.
#[track_caller]
fn row<'a>(out: &'a str, name: &str) -> Vec<&'a str> {
    let line = out.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no {name}: {out}"));
    line[name.len()..].split_whitespace().collect()
}

#[test]
fn every_door_is_asked_and_the_answers_are_counted() {
    let server = Rest::new(obedient);
    let ran = demo(&server.url, &["--token", "geheim", "--count", "40"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(row(&ran.out, "total")[0], "40");
    let waiting = |name: &str| row(&ran.out, name)[5].to_owned();
    assert_eq!(waiting("jobs"), row(&ran.out, "jobs")[0]);
    assert_eq!(waiting("admission"), "0");
    let calls = server.calls();
    assert_eq!(calls.len(), 40);
    let reviews = calls
        .iter()
        .filter(|call| call.line.ends_with("ate") && call.line.len() < 15);
    let users: std::collections::BTreeSet<String> = reviews
        .filter_map(|call| call.body.as_ref())
        .map(|body| body["request"]["userInfo"]["username"].to_string())
        .collect();
    assert!(users.len() >= 4, "{users:?}");
}

#[test]
fn without_a_token_only_webhooks_are_called() {
    let server = Rest::new(obedient);
    let ran = demo(&server.url, &["--count", "5"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("no token given"), "{}", ran.err);
    assert!(
        server
            .calls()
            .iter()
            .all(|call| !call.line.contains("/api/"))
    );
}

#[test]
fn errors_are_told_and_end_with_the_code_of_other_commands() {
    let gone = format!("http://127.0.0.1:{}", free_port());
    let ran = demo(&gone, &["--count", "3"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(5), ""), "{}", ran.err);
    let refusing = Rest::refusing(401, "who?", &Value::Null);
    let ran = demo(&refusing.url, &["--count", "3", "--token", "x"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert_eq!(row(&ran.out, "total")[6], "3");
    assert!(ran.err.contains("who?"), "{}", ran.err);
    let ran = run(&["demo", "--rate", "0/s", "--server", &gone]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(run(&["demo"]).code, Some(2));
}

/// The token that the demonstration prints.
fn token(gate: &Demonstration) -> String {
    let told = gate.told();
    let line = told.lines().find(|line| line.starts_with("eyJ"));
    line.unwrap_or_else(|| panic!("no token: {told}"))
        .to_owned()
}

#[test]
fn a_demonstration_has_something_to_show_and_takes_more() {
    let gate = Demonstration::start();
    let told = gate.told();
    assert!(
        told.contains("It has answered 40 example requests"),
        "{told}"
    );
    let (server, token) = (format!("http://127.0.0.1:{}", gate.hooks), token(&gate));
    let access = ["-o", "json", "--server", &server, "--token", &token];
    let read = |what: &[&str]| -> Value {
        let ran = run(&[what, &access].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    };
    let has = |items: &Value, key: &str, value: &str| {
        items["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one[key] == value)
    };
    until("decisions of every door", || {
        let list = read(&["decisions", "list", "--limit", "0"]);
        let doors = ["kubernetes", "authorization", "ci", "api"];
        let policies = ["spare-replica", "protected-deploys"];
        let mut items = list["items"].as_array().unwrap().iter();
        doors.iter().all(|door| has(&list, "door", door))
            && policies.iter().all(|policy| has(&list, "policy", policy))
            && items.any(|one| one["mutated"] == true)
    });
    let jobs = read(&["job", "list"]);
    for status in ["preparing", "pending", "failed", "created"] {
        assert!(has(&jobs, "status", status), "{status}: {jobs}");
    }
    // Its graph needs no cluster.
    let path = read(&["graph", "path", "Secret:storage/csi-key", "Node:node-2"]);
    assert_eq!(path["found"], true, "{path}");
    let ran = demo(&server, &["--token", &token, "-n", "20"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let total = row(&ran.out, "total");
    assert_eq!((total[0], total[6]), ("20", "0"), "{}", ran.out);
    let ran = demo(&server, &["-n", "9", "--token", "wrong"]);
    assert_eq!(ran.code, Some(4), "{}", ran.out);
}

#[test]
fn examples_are_sent_to_a_data_directory_once() {
    let home = Folder::new();
    let data = home.path("data");
    let flags = ["--demo", "--data-dir", data.to_str().unwrap()];
    let (gate, ()) = Demonstration::start_with(&flags, |_| ());
    assert!(
        gate.told().contains("It has answered 40"),
        "{}",
        gate.told()
    );
    drop(gate.end());
    let (gate, ()) = Demonstration::start_with(&flags, |_| ());
    let told = gate.told();
    assert!(
        told.contains("were sent when it was started first"),
        "{told}"
    );
}
