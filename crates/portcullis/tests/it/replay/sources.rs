//! Where recorded decisions come from, and faults in them.

use std::process::Stdio;

use super::record::Recorded;
use super::{STRICT, folder, replay, replay_in};
use crate::harness::{Folder, program, run_in};

#[test]
fn a_line_that_is_no_decision_is_named() {
    let folder = Folder::new();
    folder.write("new/p.js", STRICT);
    let fine = Recorded::pod("01A", "web", "app:1").line();
    folder.write(
        "decisions.jsonl",
        format!("{fine}\n\n{{\"id\": 1\n{fine}\n"),
    );
    let ran = replay_in(&folder, &["--policies", "new"]);
    assert_eq!(ran.code, Some(5), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("line 3: not a decision"), "{}", ran.err);
    assert!(ran.err.contains("1 line could not be read"), "{}", ran.err);
    assert!(ran.out.contains("same                  2"), "{}", ran.out);
    // A change is what counts.
    let latest = Recorded::pod("01B", "web", "app:latest").line();
    folder.write("decisions.jsonl", format!("nothing\n{latest}\n"));
    let ran = replay_in(&folder, &["--policies", "new", "-o", "json"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert_eq!(super::value(&ran)["failed"][0]["line"], 1);
}

#[test]
fn a_record_that_makes_no_sense_is_named() {
    let folder = Folder::new();
    folder.write("new/p.js", STRICT);
    let fine = Recorded::pod("01A", "web", "app:1").line();
    for (from, to, says) in [
        ("AdmissionReview", "Else", "01A: the recorded review"),
        (
            "\"received\":\"2026",
            "\"received\":\"x",
            "invalid `received`",
        ),
        ("env/0/value\"", "env/9/value\"", "is listed as masked"),
    ] {
        folder.write("decisions.jsonl", fine.replace(from, to));
        let ran = replay_in(&folder, &["--policies", "new"]);
        assert_eq!(ran.code, Some(5), "{to}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
    }
}

#[test]
fn standard_input_is_read() {
    let folder = folder(&[Recorded::pod("01A", "web", "app:latest")]);
    folder.write("new/p.js", STRICT);
    let input = std::fs::File::open(folder.path("decisions.jsonl")).unwrap();
    let output = program(folder.root())
        .args(["replay", "--policies", "new", "--file", "-"])
        .stdin(Stdio::from(input))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    // No progress bar without a terminal.
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!err.contains('\r') && err.lines().count() == 1, "{err}");
}

#[test]
fn nothing_to_replay_is_said() {
    let ran = replay(&[], STRICT, &[]);
    assert_eq!(ran.code, Some(6), "{}{}", ran.out, ran.err);
    ran.says(&["nothing to replay"]);
    let ran = replay(&[Recorded::access("01A", "alice")], STRICT, &[]);
    assert_eq!(ran.code, Some(6), "{}{}", ran.out, ran.err);
    ran.says(&["1 decision that the new set does not judge"]);
}

#[test]
fn a_file_that_is_not_there_is_said() {
    let folder = Folder::new();
    folder.write("new/p.js", STRICT);
    let ran = replay_in(&folder, &["--policies", "new"]);
    assert_eq!(ran.code, Some(5));
    ran.says(&["decisions.jsonl"]);
    let ran = run_in(&folder, &["replay", "--policies", "new", "--file", "new"]);
    assert_eq!(ran.code, Some(5));
}

#[test]
fn what_is_older_is_passed_over() {
    let decisions = [
        Recorded::pod("01A", "old", "app:latest").at("2020-01-01T00:00:00.000000Z"),
        Recorded::pod("01B", "new", "app:latest").at("2100-01-01T00:00:00.000000Z"),
    ];
    let ran = replay(&decisions, STRICT, &["--since", "24h", "-o", "json"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let value = super::value(&ran);
    assert_eq!(value["summary"]["decisions"], 1);
    assert_eq!(value["summary"]["older"], 1);
    let [old, _] = decisions;
    let ran = replay(&[old], STRICT, &["--since", "24h"]);
    assert_eq!(ran.code, Some(6));
    ran.says(&["1 decision older than asked for"]);
    assert_eq!(replay(&[], STRICT, &["--since", "soon"]).code, Some(2));
}

#[test]
fn many_are_counted_whatever_the_threads_do() {
    let decisions: Vec<Recorded> = (0..500)
        .map(|n| {
            let image = if n % 5 == 0 { "app:latest" } else { "app:1" };
            Recorded::pod(&format!("01{n:04}"), &format!("pod-{n}"), image)
        })
        .collect();
    let first = replay(&decisions, STRICT, &["-o", "json"]);
    assert_eq!(first.code, Some(1), "{}", first.err);
    let value = super::value(&first);
    assert_eq!(value["summary"]["same"], 400);
    assert_eq!(value["summary"]["newlyDenied"], 100);
    let ids: Vec<&str> = value["changes"][0]["examples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|example| example["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["010000", "010005", "010010", "010015", "010020"]);
    let second = replay(&decisions, STRICT, &["-o", "json"]);
    assert_eq!(first.out, second.out);
}
