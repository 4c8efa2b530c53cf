//! JSON and YAML.

use serde_json::{Value, json};

use super::{BASELINE, LABELS, eval, folder};
use crate::harness::{Folder, pod, run_in};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn json_has_the_promised_shape() {
    let folder = folder();
    folder.write("bad.yaml", "[");
    let chain = ["--admission-control", "AlwaysPullImages,PodSecurity"];
    let files = [
        "-f",
        "fine.yaml",
        "-f",
        "wrong.yaml",
        "-f",
        "settings.yaml",
        "-f",
        "bad.yaml",
    ];
    let done = eval(&folder, &[&files[..], LABELS, &chain].concat());
    assert_eq!(done.code, Some(3));
    assert_eq!(keys(&done.value), ["results", "summary"]);
    assert_eq!(done.summary(), [1, 1, 1, 1]);
    for result in done.results() {
        assert_eq!(
            keys(result),
            [
                "allowed",
                "file",
                "index",
                "kind",
                "message",
                "name",
                "namespace",
                "object",
                "patch",
                "policies",
                "policy",
                "warnings"
            ]
        );
        for policy in result["policies"].as_array().unwrap() {
            assert_eq!(keys(policy), ["line", "message", "mode", "name", "outcome"]);
            assert_eq!(
                (&policy["mode"], &policy["line"]),
                (&json!("enforce"), &Value::Null)
            );
        }
    }
}

#[test]
fn json_says_who_decided_and_what_each_plugin_said() {
    let folder = folder();
    let chain = [
        "--admission-control",
        "AlwaysPullImages,PodSecurity,AlwaysDeny",
    ];
    let done = eval(&folder, &[&["-f", "wrong.yaml"], LABELS, &chain].concat());
    let result = &done.results()[0];
    let said = |name: &str| {
        let mut all = result["policies"].as_array().unwrap().iter();
        let found = all.find(|p| p["name"] == name).unwrap();
        (
            found["outcome"].as_str().unwrap(),
            found["message"].as_str().unwrap(),
        )
    };
    assert_eq!(
        result["policies"].as_array().unwrap().len(),
        3,
        "one entry for each plug-in"
    );
    // All `admit` run before any `validate`; AlwaysDeny denies in the first.
    let by = result["policy"].as_str().unwrap();
    assert_eq!(said(by), ("deny", result["message"].as_str().unwrap()));
    assert_eq!(said("AlwaysPullImages").0, "pass");
    let other = if by == "AlwaysDeny" {
        "PodSecurity"
    } else {
        "AlwaysDeny"
    };
    assert_eq!(said(other).0, "deny", "asked after a refusal too");
    // A denial leaves the object as it was.
    assert_eq!(result["patch"], json!([]));
    assert!(result["object"]["spec"]["containers"][0]["imagePullPolicy"].is_null());
}

#[test]
fn json_has_the_patch_and_the_object_after_it() {
    let folder = Folder::new();
    folder.write("pod.yaml", pod().to_string());
    let done = eval(
        &folder,
        &["-f", "pod.yaml", "--admission-control", "AlwaysPullImages"],
    );
    let result = &done.results()[0];
    assert_eq!(done.code, Some(0));
    assert_eq!(
        result["patch"],
        json!([{"op": "add", "path": "/spec/containers/0/imagePullPolicy", "value": "Always"}])
    );
    let mut wanted = pod();
    wanted["spec"]["containers"][0]["imagePullPolicy"] = json!("Always");
    assert_eq!(result["object"], wanted);
    assert_eq!(
        (&result["policy"], &result["message"]),
        (&Value::Null, &json!(""))
    );
}

#[test]
fn yaml_is_the_same_data() {
    let folder = folder();
    let arguments = [&["-f", "fine.yaml", "-f", "wrong.yaml"], BASELINE].concat();
    let json = eval(&folder, &arguments);
    let yaml = run_in(&folder, &[&["eval", "-o", "yaml"], &arguments[..]].concat()).out;
    assert!(
        yaml.starts_with("results:\n  - allowed: true\n    file: fine.yaml\n"),
        "{yaml}"
    );
    // Read back by the program itself, as a manifest that carries it.
    let indented: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
    folder.write(
        "again.yaml",
        format!("apiVersion: v1\nkind: X\ndata:\n{indented}"),
    );
    let again = eval(
        &folder,
        &["-f", "again.yaml", "--admission-control", "AlwaysAdmit"],
    );
    assert_eq!(again.results()[0]["object"]["data"], json.value, "{yaml}");
}
