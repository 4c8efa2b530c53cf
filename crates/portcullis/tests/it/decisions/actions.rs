//! Calls of the API among the decisions.

use super::{fill, filled, ids, listed, sample, sample_file, summary};
use crate::harness::{Folder, run_in};

/// All samples, and two calls: one that was denied, one that was allowed.
fn with_calls() -> Folder {
    let folder = filled();
    fill(&folder, "data", &["action", "granted"].map(sample));
    folder
}

#[test]
fn they_are_found_by_every_filter() {
    let folder = with_calls();
    for (flags, wanted) in [
        (&["--door", "api"][..], &["granted", "action"][..]),
        (&["--door", "api", "--verdict", "deny"], &["action"]),
        (&["--verdict", "allow"], &["granted", "changed"]),
        (&["--user", "alice"], &["action"]),
        (&["-n", "example"], &["action"]),
        (&["--kind", "Pipeline"], &["action"]),
        (&["--policy", "Roles"], &["granted", "action"]),
        // The role that permitted it, and the one that would have permitted something like it.
        (&["--policy", "admin"], &["granted"]),
        (&["--policy", "fooenq"], &["action"]),
    ] {
        let mut arguments = vec!["decisions", "list", "--data-dir", "data", "-o", "json"];
        arguments.extend(flags);
        let ran = run_in(&folder, &arguments);
        let lines: Vec<String> = wanted.iter().map(|name| sample(name)).collect();
        assert_eq!(
            (ran.code, listed(&ran.out)),
            (Some(0), ids(&lines)),
            "{flags:?}"
        );
    }
}

#[test]
fn they_are_told_without_a_hint_at_policies() {
    let folder = with_calls();
    for name in ["action", "granted"] {
        let id = summary(&sample(name)).id;
        let ran = run_in(&folder, &["explain", &id, "--data-dir", "data"]);
        assert_eq!(
            (ran.code, ran.out),
            (Some(0), sample_file(&format!("{name}.txt")))
        );
        assert!(
            ran.err.contains("-o json") && !ran.err.contains("replay"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn they_are_exported_and_passed_over_when_decided_again() {
    let folder = with_calls();
    let export = |flags: &[&str]| {
        let all = [&["decisions", "export", "--data-dir", "data"], flags].concat();
        let ran = run_in(&folder, &all);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    };
    let calls = export(&["--door", "api"]);
    let wanted = ["action", "granted"].map(sample);
    assert_eq!(calls.lines().collect::<Vec<_>>(), wanted);
    folder.write("calls.jsonl", calls);
    folder.write("all.jsonl", export(&[]));
    folder.write("new/p.js", "return true");
    let replay = |file: &str, flags: &[&str]| {
        let all = ["replay", "--policies", "new", "--file", file];
        run_in(&folder, &[&all, flags].concat())
    };
    let nothing = replay("calls.jsonl", &[]);
    assert_eq!(nothing.code, Some(6), "{}{}", nothing.out, nothing.err);
    nothing.says(&["2 decisions of the API, which roles decide"]);
    let table = replay("all.jsonl", &[]);
    let counted = format!("{:<15}{:>8}\n", "passed over", 2);
    assert!(table.out.contains(&counted), "{}", table.out);
    assert!(table.err.contains("2 of the API skipped"), "{}", table.err);
    // They are not among the inconsistent lines.
    assert!(!table.err.contains("line 5") && !table.err.contains("line 6"));
    let json = replay("all.jsonl", &["-o", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["summary"]["passedOver"], 2);
}
