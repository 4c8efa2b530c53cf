//! Objects of a cluster, in tests and in `eval`.

use serde_json::{Value, json};

use super::{Tested, cases, pod};
use crate::harness::{Folder, Ran, run_in};

const POLICY: &str = "const teams = kube.get('v1', 'ConfigMap', 'platform', 'teams')\n\
    if (teams === null) return 'no teams'\n\
    const found = kube.list('v1', 'ConfigMap', {namespace: 'platform', limit: 2})\n\
    return teams.data.names === object.metadata.name || 'not one of ' + found.length\n";

fn teams(names: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "teams", "namespace": "platform"},
        "data": {"names": names}})
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("policies/team.js", POLICY);
    folder
}

#[track_caller]
fn test(folder: &Folder, arguments: &[&str]) -> Tested {
    super::test(folder, arguments)
}

fn eval(folder: &Folder, arguments: &[&str]) -> (Ran, Value) {
    let ran = run_in(
        folder,
        &[&["eval", "pod.yaml", "-o", "json"], arguments].concat(),
    );
    let value = serde_json::from_str(&ran.out).unwrap_or_default();
    (ran, value)
}

#[test]
fn a_case_may_have_objects_of_the_cluster() {
    let folder = folder();
    let web = pod("web", "a:1");
    let all = json!([
        {"name": "allowed", "object": web, "kube": [teams("web")], "expect": {"allowed": true}},
        {"name": "denied", "object": web, "kube": [teams("db")],
            "expect": {"allowed": false, "message": "not one of 1$"}},
        {"name": "none", "object": web, "kube": [], "expect": {"allowed": false, "message": "no teams"}},
        {"name": "unknown", "object": web,
            "expect": {"allowed": false, "message": "kube.get: no cluster is configured"}},
    ]);
    cases(&folder, "tests/a.test.yaml", &all);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}{}", done.value, done.err);
    // And all of them may have the same.
    folder.write("cluster/teams.yaml", teams("web").to_string());
    let all = json!([
        {"name": "common", "object": web, "expect": {"allowed": true}},
        {"name": "own", "object": web, "kube": [], "expect": {"allowed": false}},
    ]);
    cases(&folder, "tests/a.test.yaml", &all);
    let done = test(&folder, &["--objects", "cluster"]);
    assert_eq!(done.code, Some(0), "{:#}{}", done.value, done.err);
}

#[test]
fn a_script_may_give_objects_of_the_cluster() {
    let folder = folder();
    let web = pod("web", "a:1");
    let text = format!(
        "test('with teams', () => {{
            const answer = review({web}, {{ kube: [{}] }});
            expect(answer.allowed).toBe(true);
            expect(review({web}, {{ kube: [] }}).message).toContain('no teams');
            expect(() => review({web}, {{ kube: [{{}}] }})).toThrow('kube[0]');
        }});",
        teams("web")
    );
    folder.write("tests/a.test.ts", text);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}{}", done.value, done.err);
}

#[test]
fn what_is_no_object_is_a_fault_of_the_case() {
    let folder = folder();
    let all = json!([{"name": "a", "object": pod("a", "a:1"), "kube": [{"kind": "Pod"}],
        "expect": {"allowed": true}}]);
    cases(&folder, "tests/a.test.yaml", &all);
    let ran = run_in(&folder, &["test"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.err.contains("tests[0].kube[0]: expected an object"),
        "{}",
        ran.err
    );
}

#[test]
fn eval_takes_the_objects_of_a_folder() {
    let folder = folder();
    folder.write("pod.yaml", pod("web", "a:1").to_string());
    folder.write("cluster/teams.yaml", teams("web").to_string());
    let (ran, _) = eval(&folder, &["--policies", "policies", "--objects", "cluster"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let (ran, value) = eval(&folder, &["--policies", "policies"]);
    assert_eq!(ran.code, Some(5), "{}{}", ran.out, ran.err);
    let message = value["results"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("no cluster is configured: the key `kube` is missing"),
        "{message}"
    );
    let (ran, _) = eval(&folder, &["--policies", "policies", "--objects", "nowhere"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.err
            .contains("nowhere: no such file or folder of objects"),
        "{}",
        ran.err
    );
}

#[test]
fn the_configuration_says_which_kinds_policies_see() {
    let folder = folder();
    folder.write("pod.yaml", pod("web", "a:1").to_string());
    folder.write("cluster/teams.yaml", teams("web").to_string());
    let configured = |kinds: &str| {
        let text = format!(
            "policyDirs: [policies]\nkube: {{kubeconfig: nowhere, kinds: [{kinds}]}}\ndefaultAction: allow\n"
        );
        folder.write("portcullis.yaml", text);
    };
    configured("v1/ConfigMap");
    let with_objects = ["--config", "portcullis.yaml", "--objects", "cluster"];
    assert_eq!(eval(&folder, &with_objects).0.code, Some(0));
    let (ran, value) = eval(&folder, &["--config", "portcullis.yaml"]);
    assert_eq!(ran.code, Some(5));
    let message = value["results"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("give them with `--objects DIR`"),
        "{message}"
    );
    configured("v1/Pod");
    let (ran, value) = eval(&folder, &with_objects);
    assert_eq!(ran.code, Some(5));
    let message = value["results"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("kube.get: objects of v1/ConfigMap are not watched: the key `kube.kinds` does not contain it"),
        "{message}"
    );
}

#[test]
fn plug_ins_find_the_objects_too() {
    let folder = Folder::new();
    let mut pod = pod("web", "a:1");
    pod["metadata"]["namespace"] = json!("shop");
    pod["spec"]["hostPID"] = json!(true);
    folder.write("pod.yaml", pod.to_string());
    let labels = json!({"pod-security.kubernetes.io/enforce": "baseline"});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "labels": labels}, "status": {"phase": "Active"}});
    folder.write("cluster/shop.yaml", namespace.to_string());
    folder.write("empty/pod.yaml", pod.to_string());
    let order = [
        "--admission-control",
        "NamespaceLifecycle,PodSecurity",
        "--objects",
    ];
    let (ran, value) = eval(&folder, &[&order[..], &["cluster"]].concat());
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let message = value["results"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("violates PodSecurity \"baseline:latest\""),
        "{message}"
    );
    let (ran, value) = eval(&folder, &[&order[..], &["empty"]].concat());
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        value["results"][0]["message"],
        "namespaces \"shop\" not found"
    );
    let ran = eval(&folder, &["--admission-control", "NamespaceLifecycle"]).0;
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.err
            .contains("NamespaceLifecycle: it reads objects of the cluster: add the key `kube`"),
        "{}",
        ran.err
    );
}
