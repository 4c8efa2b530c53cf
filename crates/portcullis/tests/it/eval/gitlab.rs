//! GitLab's Code Quality report.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Folder, container, pod_with, run_in};

/// A pod of this name with an image without a tag.
fn untagged(name: &str) -> Value {
    let mut one = container("app");
    one["image"] = json!("nginx");
    let mut pod = pod_with(&json!({"containers": [one]}));
    pod["metadata"]["name"] = json!(name);
    pod
}

fn folder() -> Folder {
    let folder = Folder::new();
    let policy = |about: &str, code: &str| {
        format!("export const policy = {{{about}}}\nexport default function () {{ {code} }}")
    };
    let deny = "deny('no tag')";
    for (name, about, code) in [
        ("1-low", "severity: 'low'", deny),
        ("2-medium", "severity: 'medium'", deny),
        ("3-high", "severity: 'high'", deny),
        ("4-critical", "severity: 'critical'", deny),
        ("5-none", "", deny),
        ("6-dry", "mode: 'dry-run'", deny),
        ("7-warns", "", "warn('odd')"),
        ("8-fine", "severity: 'critical'", ""),
    ] {
        folder.write(&format!("policies/{name}.js"), policy(about, code));
    }
    folder
}

fn report(folder: &Folder, files: &[&str]) -> Vec<Value> {
    let fixed = ["eval", "--policies", "policies", "-o", "gitlab"];
    let ran = run_in(folder, &[&fixed[..], files].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

#[test]
fn findings_have_the_form_that_gitlab_reads() {
    let folder = folder();
    folder.write("m/a.yaml", format!("# first\n---\n{}\n", untagged("a")));
    let found = report(&folder, &["./m/a.yaml"]);
    let severities: Vec<(&str, &str)> = found
        .iter()
        .map(|f| {
            (
                f["check_name"].as_str().unwrap(),
                f["severity"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        severities,
        [
            ("1-low", "minor"),
            ("2-medium", "major"),
            ("3-high", "critical"),
            ("4-critical", "blocker"),
            ("5-none", "major"),
            ("6-dry", "info"),
            ("7-warns", "minor"),
        ]
    );
    for one in &found {
        let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "check_name",
                "description",
                "fingerprint",
                "location",
                "severity"
            ]
        );
        assert_eq!(
            one["location"],
            json!({"path": "m/a.yaml", "lines": {"begin": 3}})
        );
        let text = one["description"].as_str().unwrap();
        assert!(text.starts_with("Pod default/a: "), "{text}");
    }
}

#[test]
fn fingerprints_are_unique_and_last() {
    let folder = folder();
    let prints = |found: &[Value]| -> BTreeSet<String> {
        let print = |f: &Value| f["fingerprint"].as_str().unwrap().to_owned();
        found.iter().map(print).collect()
    };
    // Two objects of one name in one file are two findings.
    let three = |before: &str| {
        format!(
            "{before}{}\n---\n{}\n---\n{}\n",
            untagged("a"),
            untagged("b"),
            untagged("a")
        )
    };
    folder.write("all.yaml", three(""));
    folder.write("bad.yaml", "kind: [");
    let first = report(&folder, &["all.yaml", "bad.yaml"]);
    assert_eq!(first.len(), 3 * 7 + 1);
    let unread = &first[21];
    assert_eq!(
        (&unread["check_name"], &unread["severity"]),
        (&json!("unreadable-manifest"), &json!("critical"))
    );
    assert_eq!(prints(&first).len(), first.len());
    folder.write("all.yaml", three("\n# lines move\n\n"));
    let moved = report(&folder, &["all.yaml", "bad.yaml"]);
    assert_eq!(prints(&moved), prints(&first));
    assert_ne!(moved[0]["location"], first[0]["location"]);
}

#[test]
fn without_findings_the_list_is_empty() {
    let folder = Folder::new();
    folder.write("policies/fine.js", "return");
    folder.write("a.yaml", untagged("a").to_string());
    let ran = run_in(
        &folder,
        &[
            "eval",
            "a.yaml",
            "--policies",
            "policies",
            "--report",
            "gitlab=gl.json",
        ],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        std::fs::read_to_string(folder.path("gl.json")).unwrap(),
        "[]\n"
    );
}
