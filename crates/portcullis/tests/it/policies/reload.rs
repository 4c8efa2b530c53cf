//! Policies that change while the server runs.

use serde_json::json;

use super::{gate_with_folder, named, native};
use crate::harness::{Gate, until};

/// The message of a denial; empty where the request is allowed.
fn said(gate: &Gate) -> String {
    gate.ask("/validate", &named("any")).message().to_owned()
}

#[track_caller]
fn becomes(gate: &Gate, wanted: &str) {
    until(&format!("`{wanted}` is said"), || said(gate) == wanted);
}

#[test]
fn a_policy_in_the_file_changes() {
    let gate = Gate::start(native(&[("P", "return 'one'")]));
    assert_eq!(said(&gate), "P: one");
    for text in ["two", "three"] {
        gate.configure(native(&[("P", &format!("return '{text}'"))]));
        gate.hang_up();
        becomes(&gate, &format!("P: {text}"));
    }
}

#[test]
fn files_of_a_folder_change_come_and_go() {
    let gate = gate_with_folder(&[("20-b.js", "return 'b'")]);
    assert_eq!(said(&gate), "20-b: b");
    gate.folder.replace("policies/20-b.js", "return 'b2'");
    becomes(&gate, "20-b: b2");
    gate.folder.write("policies/10-a.js", "return 'a'");
    becomes(&gate, "10-a: a");
    let list = json!({"policies": [{"name": "listed", "code": "return 'from a list'"}]});
    gate.folder.write("policies/00-list.yaml", list.to_string());
    gate.hang_up();
    becomes(&gate, "listed: from a list");
    for (file, next, is_watched) in [
        ("00-list.yaml", "10-a: a", true),
        ("10-a.js", "20-b: b2", false),
        ("20-b.js", "", false),
    ] {
        std::fs::remove_file(gate.folder.path(&format!("policies/{file}"))).unwrap();
        if !is_watched {
            gate.hang_up();
        }
        becomes(&gate, next);
    }
}

#[test]
fn other_files_of_a_folder_are_no_policies() {
    let gate = gate_with_folder(&[
        ("a.js", "return 'a'"),
        ("a.test.js", "this is no program ("),
        ("types.d.ts", "declare const x: number"),
        ("README.md", "# about"),
        (".hidden.js", "("),
    ]);
    assert_eq!(said(&gate), "a: a");
}

#[test]
fn a_module_that_is_imported_is_watched() {
    let policy =
        "import { word } from './lib/words.js'\nexport default function () { return word() }\n";
    let words = |word: &str| format!("export function word() {{ return '{word}' }}\n");
    let gate = gate_with_folder(&[("p.js", policy), ("lib/words.js", &words("one"))]);
    assert_eq!(said(&gate), "p: one");
    gate.folder.replace("policies/lib/words.js", words("two"));
    becomes(&gate, "p: two");
}

#[test]
fn a_broken_policy_keeps_the_last_good_set_until_it_is_repaired() {
    let gate = gate_with_folder(&[("p.js", "return 'good'"), ("q.js", "return")]);
    for (broken, why) in [
        ("return (", "p.js:1"),
        ("ok\n\nlet 1", "p.js:3"),
        ("return 1 +\n", "p.js"),
    ] {
        gate.folder.replace("policies/p.js", broken);
        gate.folder.replace("policies/q.js", "return 'not yet'");
        gate.hang_up();
        let verbose = || gate.get("/readyz?verbose").text();
        until("the fault is shown", || {
            verbose().contains("last reload failed") && verbose().contains(why)
        });
        gate.last_reload_is(false);
        until("the log says why", || gate.log().contains(why));
        assert_eq!(gate.get("/readyz").status, 200);
        assert_eq!(said(&gate), "p: good");
    }
    gate.folder.replace("policies/p.js", "return 'better'");
    becomes(&gate, "p: better");
    gate.last_reload_is(true);
    assert!(!gate.get("/readyz?verbose").text().contains("failed"));
}

fn threads(gate: &Gate) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", gate.pid()));
    tasks.unwrap().count()
}

#[test]
fn threads_of_replaced_policies_end() {
    let gate = Gate::start(native(&[("P", "return '0'")]));
    assert_eq!(said(&gate), "P: 0");
    let before = threads(&gate);
    for n in 1..15 {
        gate.configure(native(&[("P", &format!("return '{n}'"))]));
        gate.hang_up();
        becomes(&gate, &format!("P: {n}"));
    }
    // A few come and go with other work.
    until("the threads have ended", || threads(&gate) <= before + 6);
}

#[test]
fn requests_under_way_are_answered_by_what_they_began_with() {
    let slow = "const end = Date.now() + 300; while (Date.now() < end); return 'old'";
    let gate = Gate::start(native(&[("P", slow)]));
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| (0..4).map(|_| said(&gate)).collect::<Vec<_>>());
        gate.configure(native(&[("P", "return 'new'")]));
        gate.hang_up();
        becomes(&gate, "P: new");
        for answer in asking.join().unwrap() {
            assert!(answer == "P: old" || answer == "P: new", "{answer}");
        }
    });
}
