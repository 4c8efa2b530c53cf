//! All denials are reported at once; `--fail-fast` stops as the server does.

use serde_json::{Value, json};

use super::eval;
use crate::harness::{Folder, Gate, Review, pod, privileged, run_in};

/// Policies that deny, crash, warn and allow, in their order.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        ("a-pass", "object.metadata.labels = {a: 'b'}"),
        ("b-deny", "deny('first')"),
        ("c-crash", "return nothing.at.all"),
        ("d-deny", "deny('second ' + object.metadata.labels.a)"),
        ("e-warn", "warn('careful')"),
        ("f-allow", "allow()"),
        ("g-never", "deny('never')"),
    ] {
        folder.write(&format!("policies/{name}.js"), text);
    }
    folder.write("pod.yaml", pod().to_string());
    folder
}

fn outcomes(result: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = result["policies"].as_array().unwrap().iter();
    all.map(|p| (text(&p["outcome"]), text(&p["message"])))
        .collect()
}

#[test]
fn every_policy_is_asked_after_a_refusal() {
    let folder = folder();
    let done = eval(&folder, &["pod.yaml", "--policies", "policies"]);
    let result = &done.results()[0];
    assert_eq!((done.code, done.summary()), (Some(1), [0, 1, 0, 0]));
    assert_eq!(
        (&result["message"], &result["policy"]),
        (&json!("b-deny: first"), &json!("b-deny"))
    );
    assert_eq!(
        (&result["patch"], &result["warnings"]),
        (&json!([]), &json!([]))
    );
    let outcomes = outcomes(result);
    let words: Vec<&str> = outcomes.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(
        words,
        ["pass", "deny", "error", "deny", "warn", "allow", "skip"]
    );
    // It goes on with what earlier ones changed.
    assert_eq!(outcomes[3].1, "second b");
    assert_eq!(outcomes[6].1, "not asked: f-allow allowed it");
    let table = run_in(&folder, &["eval", "pod.yaml", "--policies", "policies"]).out;
    assert!(table.contains("warn   e-warn   careful\n"), "{table}");
}

#[test]
fn it_stops_as_the_server_does_if_that_is_asked_for() {
    let folder = folder();
    let done = eval(
        &folder,
        &["pod.yaml", "--policies", "policies", "--fail-fast"],
    );
    let outcomes = outcomes(&done.results()[0]);
    let words: Vec<&str> = outcomes.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(
        words,
        ["pass", "deny", "skip", "skip", "skip", "skip", "skip"]
    );
    assert_eq!(outcomes[2].1, "not asked: b-deny denied it");
    std::fs::remove_file(folder.path("policies/b-deny.js")).unwrap();
    let done = eval(
        &folder,
        &["pod.yaml", "--policies", "policies", "--fail-fast"],
    );
    assert_eq!(done.code, Some(5));
    let after = self::outcomes(&done.results()[0]);
    assert_eq!(after[2].1, "not asked: c-crash failed");
}

#[test]
fn a_limit_ends_it() {
    let folder = folder();
    folder.write("policies/b-deny.js", "for (;;) {}");
    let text = json!({"policyDirs": ["policies"], "limits": {"deadline": "200ms"}, "defaultAction": "allow"});
    folder.write("portcullis.yaml", text.to_string());
    let done = eval(&folder, &["pod.yaml"]);
    let outcomes = outcomes(&done.results()[0]);
    assert_eq!((done.code, outcomes[1].0.as_str()), (Some(5), "error"));
    assert!(
        outcomes[2..].iter().all(|(word, _)| word == "skip"),
        "{outcomes:?}"
    );
}

#[test]
fn plugins_are_asked_after_a_refusal_and_the_verdict_stays_the_servers() {
    let security = json!({"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline", "warn": "restricted"}});
    let config = json!({
        "admission": {
            "order": ["AlwaysDeny", "Policies", "PodSecurity"],
            "plugins": [{"name": "PodSecurity", "configuration": security}],
        },
        "policies": [{"name": "p", "code": "warn('w'); return 'also no'"}],
    });
    let gate = Gate::start(config);
    gate.folder.write("pod.yaml", privileged().to_string());
    let done = eval(&gate.folder, &["pod.yaml", "--as", "alice"]);
    let result = &done.results()[0];
    let answer = gate.ask("/mutate", &Review::create(&privileged()));
    assert_eq!(result["message"], answer.message());
    assert_eq!(result["policy"].as_str(), answer.annotation("plugin"));
    assert_eq!(result["warnings"], json!(answer.warnings()));
    let outcomes = outcomes(result);
    let words: Vec<&str> = outcomes.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["deny", "deny", "deny"], "{outcomes:?}");
    assert!(outcomes[2].1.contains("privileged"), "{outcomes:?}");
}

#[test]
fn formats_for_others_go_to_standard_output() {
    let folder = folder();
    let print = |format: &str| {
        let ran = run_in(
            &folder,
            &["eval", "pod.yaml", "--policies", "policies", "-o", format],
        );
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        ran.out
    };
    let report = |kind: &str| {
        let to = format!("{kind}=report");
        run_in(
            &folder,
            &[
                "eval",
                "pod.yaml",
                "--policies",
                "policies",
                "--report",
                &to,
            ],
        );
        std::fs::read_to_string(folder.path("report")).unwrap()
    };
    let sarif: Value = serde_json::from_str(&print("sarif")).unwrap();
    assert_eq!(
        sarif,
        serde_json::from_str::<Value>(&report("sarif")).unwrap()
    );
    let without_times = |text: String| -> Vec<String> {
        let lines = text
            .lines()
            .map(|line| line.split(" time=").next().unwrap().to_owned());
        lines.collect()
    };
    let junit = print("junit");
    assert!(!junit.contains("time=\"-"), "{junit}");
    assert_eq!(without_times(junit), without_times(report("junit")));
    let github = print("github");
    assert!(
        github.starts_with("::error file=pod.yaml,line=1,title=b-deny::Pod default/web: first\n"),
        "{github}"
    );
    assert!(
        github.contains("\n::warning file=pod.yaml,line=1,title=e-warn::"),
        "{github}"
    );
    let tap = print("tap");
    assert!(
        tap.starts_with(
            "TAP version 14\n1..1\nnot ok 1 - Pod default/web (pod.yaml:1)\n# deny b-deny: first\n"
        ),
        "{tap}"
    );
}

#[test]
fn reports_say_what_a_policy_is_for() {
    let folder = folder();
    let about = "{description: 'Nothing is allowed', severity: 'high', category: 'tests', link: 'https://example.org/b'}";
    let text =
        format!("export const policy = {about};\nexport default function () {{ deny('first') }}\n");
    folder.write("policies/b-deny.js", text);
    let list = json!({"policies": [{"name": "h", "code": "return 'x'", "severity": "low", "description": "last"}]});
    folder.write("policies/h.yaml", list.to_string());
    let done = eval(&folder, &["pod.yaml", "--policies", "policies"]);
    let policies = &done.results()[0]["policies"];
    let (first, last) = (&policies[1], &policies[7]);
    assert_eq!(
        (&first["severity"], &first["category"]),
        (&json!("high"), &json!("tests"))
    );
    assert_eq!(
        (&last["severity"], &last["description"]),
        (&json!("low"), &json!("last"))
    );
    assert!(policies[0].get("severity").is_none());
    let ran = run_in(
        &folder,
        &["eval", "pod.yaml", "--policies", "policies", "-o", "sarif"],
    );
    let sarif: Value = serde_json::from_str(&ran.out).unwrap();
    let mut rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter();
    let rule = rules.find(|rule| rule["id"] == "b-deny").unwrap();
    assert_eq!(rule["shortDescription"]["text"], "Nothing is allowed");
    assert_eq!(rule["helpUri"], "https://example.org/b");
    assert_eq!(
        rule["properties"],
        json!({"tags": ["tests"], "severity": "high", "security-severity": "8.0"})
    );
    for (key, value, told) in [
        ("link", "javascript:alert(1)", "invalid link"),
        ("severity", "huge", "severity"),
    ] {
        let list = json!({"policies": [{"name": "h", "code": "return 'x'", key: value}]});
        folder.write("policies/h.yaml", list.to_string());
        let ran = run_in(&folder, &["eval", "pod.yaml", "--policies", "policies"]);
        assert_eq!(ran.code, Some(3), "{key}");
        ran.says(&["error: policies/h.yaml:", told]);
    }
}
