//! CREATE, UPDATE, DELETE, CONNECT, dry run, and the user.

use serde_json::{Value, json};

use super::{BASELINE, eval, folder};
use crate::harness::{Folder, pod, privileged, run_in};

fn baseline_default() -> Vec<&'static str> {
    let labels = "pod-security.kubernetes.io/enforce=baseline";
    let chain = [
        "--admission-control",
        "PodSecurity",
        "--namespace",
        "default",
    ];
    [&chain[..], &["--namespace-labels", labels]].concat()
}

#[test]
fn an_update_is_judged_against_the_old_object() {
    let folder = Folder::new();
    let mut labelled = privileged();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    folder.write(
        "old.yaml",
        format!("{}\n---\n{}", super::settings(), privileged()),
    );
    folder.write("new.yaml", labelled.to_string());
    let update = ["--operation", "UPDATE", "--old", "old.yaml"];
    let done = eval(
        &folder,
        &[&["-f", "new.yaml"], &update[..], &baseline_default()].concat(),
    );
    // PodSecurity does not judge again what did not change.
    assert_eq!(done.results()[0]["allowed"], true, "{}", done.value);
    assert_eq!(done.results()[0]["policies"][0]["outcome"], "skip");
    labelled["spec"]["containers"][0]["image"] = json!("registry.example/app:2");
    folder.write("new.yaml", labelled.to_string());
    let done = eval(
        &folder,
        &[&["-f", "new.yaml"], &update[..], &baseline_default()].concat(),
    );
    assert_eq!(done.code, Some(1), "{}", done.value);
}

#[test]
fn an_update_of_an_object_that_is_not_there_is_an_error() {
    let folder = Folder::new();
    let mut other = pod();
    other["metadata"]["name"] = json!("other");
    folder.write("old.yaml", pod().to_string());
    folder.write("new.yaml", format!("{other}\n---\n{}", pod()));
    let update = [
        "-f",
        "new.yaml",
        "--operation",
        "UPDATE",
        "--old",
        "old.yaml",
    ];
    let chain = ["--admission-control", "AlwaysAdmit"];
    let done = eval(&folder, &[&update[..], &chain].concat());
    assert_eq!((done.code, done.summary()), (Some(3), [1, 0, 1, 0]));
    let message = done.results()[0]["message"].as_str().unwrap();
    assert!(
        message.contains("old.yaml has no Pod \"other\""),
        "{message}"
    );
    // One and one belong together.
    folder.write("new.yaml", other.to_string());
    let done = eval(&folder, &[&update[..], &chain].concat());
    assert_eq!((done.code, done.summary()), (Some(0), [1, 0, 0, 0]));
    folder.write("old.yaml", "{");
    let ran = run_in(&folder, &[&["eval"], &update[..], &chain].concat());
    assert_eq!(ran.code, Some(3));
    ran.says(&["old.yaml:", "--old"]);
}

#[test]
fn what_is_deleted_is_the_manifest() {
    let folder = folder();
    let chain = ["--operation", "DELETE", "--admission-control", "AlwaysDeny"];
    let done = eval(&folder, &[&["-f", "wrong.yaml"], &chain[..]].concat());
    assert_eq!(done.code, Some(1));
    assert_eq!(done.results()[0]["object"], Value::Null);
    // PodSecurity doesn't handle it, so nothing applied.
    let done = eval(
        &folder,
        &[&["-f", "wrong.yaml", "--operation", "delete"], BASELINE].concat(),
    );
    assert_eq!((done.code, done.summary()), (Some(6), [0, 0, 0, 1]));
    let policy = &done.results()[0]["policies"][0];
    assert_eq!(policy["outcome"], "skip");
    assert_eq!(policy["message"], "does not handle DELETE");
}

#[test]
fn a_connection_is_to_a_part_of_a_pod() {
    let folder = Folder::new();
    let exec = json!({"apiVersion": "v1", "kind": "PodExecOptions", "metadata": {"name": "web"}, "command": ["sh"]});
    folder.write("exec.yaml", exec.to_string());
    let connect = [
        "-f",
        "exec.yaml",
        "--operation",
        "CONNECT",
        "--admission-control",
    ];
    let done = eval(&folder, &[&connect[..], &["AlwaysDeny"]].concat());
    assert_eq!(done.code, Some(1));
    let message = done.results()[0]["message"].as_str().unwrap();
    assert!(message.contains("pods \"web\""), "{message}");
    assert_eq!(
        eval(&folder, &[&connect[..], &["PodSecurity"]].concat()).code,
        Some(6)
    );
}

#[test]
fn who_asks_is_told_to_the_plugins() {
    let folder = folder();
    let own = json!({"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline"}, "exemptions": {"usernames": ["system:serviceaccount:ci:deploy"]}});
    let config = json!({"admission": {"plugins": [{"name": "PodSecurity", "configuration": own}]}});
    folder.write("portcullis.yaml", config.to_string());
    let asked = ["-f", "wrong.yaml", "--config", "portcullis.yaml"];
    assert_eq!(eval(&folder, &asked).code, Some(1));
    let done = eval(
        &folder,
        &[&asked[..], &["--as", "system:serviceaccount:ci:deploy"]].concat(),
    );
    assert_eq!(done.results()[0]["allowed"], true);
    let groups = [
        "--as",
        "bob",
        "--as-group",
        "a",
        "--as-group",
        "b",
        "--dry-run",
    ];
    assert_eq!(eval(&folder, &[&asked[..], &groups].concat()).code, Some(1));
}
