//! What the author of a policy says of it, in what `eval` prints.

use serde_json::{Value, json};

use super::{eval, folder};
use crate::harness::run_in;

const LINK: &str = "https://example.org/pods";

/// A folder with policies that deny, warn and pass, described by their author.
fn described() -> crate::harness::Folder {
    let folder = folder();
    let about = json!({"description": "Pods have an owner.", "severity": "high", "category": "tests", "link": LINK});
    let policy = |name: &str, mode: &str, code: &str| {
        let mut policy = about.clone();
        policy["name"] = name.into();
        policy["mode"] = mode.into();
        policy["code"] = code.into();
        policy
    };
    let policies = [
        policy("denies", "enforce", "return 'no owner'"),
        policy("warns", "warn", "return 'no team'"),
        policy("passes", "enforce", ""),
    ];
    folder.write(
        "policies/all.yaml",
        json!({"policies": policies}).to_string(),
    );
    folder
}

#[test]
fn the_table_shows_the_severity_of_findings_and_explains_the_rest() {
    let folder = described();
    let words = ["eval", "fine.yaml", "--policies", "policies"];
    let short = run_in(&folder, &words);
    let lines: Vec<&str> = short.out.lines().map(str::trim).collect();
    let denied = |line: &&str| line.starts_with("DENY   denies [high]  no owner");
    assert!(lines.iter().any(denied), "{}", short.out);
    assert!(short.out.contains("warns [high]"), "{}", short.out);
    assert!(!short.out.contains("passes [high]"), "{}", short.out);
    assert!(!short.out.contains("Pods have an owner."), "{}", short.out);
    let long = run_in(&folder, &[&words[..], &["--explain"]].concat());
    for text in [
        "description: Pods have an owner.",
        "category: tests",
        "link: https://example.org/pods",
    ] {
        assert_eq!(long.out.matches(text).count(), 2, "{text}: {}", long.out);
    }
}

#[test]
fn a_denial_keeps_its_text_and_is_followed_by_the_link() {
    let done = eval(&described(), &["fine.yaml", "--policies", "policies"]);
    let result = &done.results()[0];
    assert_eq!(result["message"], "denies: no owner");
    let warnings = result["warnings"].as_array().unwrap();
    assert!(
        warnings.contains(&json!(format!("denies: see {LINK}"))),
        "{result}"
    );
    assert_eq!(result["policies"][0]["message"], "no owner");
    let folder = described();
    let list = std::fs::read_to_string(folder.path("policies/all.yaml")).unwrap();
    folder.write(
        "policies/all.yaml",
        list.replace("\"enforce\"", "\"dry-run\""),
    );
    let done = eval(&folder, &["fine.yaml", "--policies", "policies"]);
    assert_eq!(
        done.results()[0]["warnings"],
        json!([format!("warns: no team (see {LINK})")])
    );
}

#[test]
fn sarif_has_them_as_help() {
    let folder = described();
    let ran = run_in(
        &folder,
        &["eval", "fine.yaml", "--policies", "policies", "-o", "sarif"],
    );
    let sarif: Value = serde_json::from_str(&ran.out).unwrap();
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "denies").unwrap();
    assert_eq!(rule["helpUri"], LINK);
    assert_eq!(
        rule["help"],
        json!({"text": format!("Pods have an owner.\n\nSeverity: high. Category: tests.\n\nSee {LINK}"),
            "markdown": format!("Pods have an owner.\n\nSeverity: high. Category: tests.\n\nSee <{LINK}>")})
    );
}
