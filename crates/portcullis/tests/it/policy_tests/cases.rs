//! Cases in YAML.

use serde_json::{Value, json};

use super::{cases, folder, pod, test};
use crate::harness::Folder;

fn expecting(name: &str, object: &Value, expect: &Value) -> Value {
    json!({"name": name, "object": object, "expect": expect})
}

#[test]
fn everything_that_may_be_expected_is_looked_at() {
    let folder = folder();
    folder.write("tests/web.yaml", pod("web", "nginx:1").to_string());
    let mut owned = pod("web", "nginx:1");
    owned["metadata"]["labels"] = json!({"owner": "ann"});
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"owner": "ann"}}]);
    let whole = json!({"allowed": true, "warnings": ["^owner: owned", "by ann$"], "object": owned, "patch": patch});
    let all = json!([
        {"name": "whole", "file": "web.yaml", "user": "ann", "expect": whole},
        expecting("refused", &pod("a", "a:latest"),
            &json!({"allowed": false, "policy": "no-latest", "message": "pin a (version|digest)"})),
    ]);
    cases(&folder, "tests/a.test.yaml", &all);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}{}", done.value, done.err);
    assert_eq!(
        done.outcomes(),
        [("whole", "passed"), ("refused", "passed")]
    );
    assert_eq!(
        done.value["summary"],
        json!({"passed": 2, "failed": 0, "skipped": 0, "errors": 0})
    );
    assert_eq!(done.err, "2 tests: 2 passed, 0 failed, 0 skipped\n");
}

#[test]
fn each_expectation_can_fail() {
    let folder = folder();
    let good = || pod("a", "a:1");
    let bad = || pod("a", "a:latest");
    let all = json!([
        expecting("verdict", &bad(), &json!({"allowed": true})),
        expecting("other verdict", &good(), &json!({"allowed": false})),
        expecting(
            "policy",
            &bad(),
            &json!({"allowed": false, "policy": "owner"})
        ),
        expecting(
            "message",
            &bad(),
            &json!({"allowed": false, "message": "^pin"})
        ),
        expecting(
            "warning",
            &good(),
            &json!({"allowed": true, "warnings": ["owned", "nothing"]})
        ),
        expecting(
            "object",
            &good(),
            &json!({"allowed": true, "object": good()})
        ),
        expecting("patch", &good(), &json!({"allowed": true, "patch": []})),
    ]);
    cases(&folder, "tests/a.test.yaml", &all);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.outcomes()
            .iter()
            .all(|(_, outcome)| *outcome == "failed"),
        "{:?}",
        done.outcomes()
    );
    assert_eq!(
        done.failures("verdict"),
        ["allowed: expected true, got false: no-latest: pin a version"]
    );
    assert_eq!(
        done.failures("other verdict"),
        ["allowed: expected false, got true"]
    );
    assert_eq!(
        done.failures("policy"),
        ["policy: expected owner, got no-latest"]
    );
    assert_eq!(
        done.failures("message"),
        ["message: expected to find \"^pin\" in \"no-latest: pin a version\""]
    );
    assert_eq!(done.failures("warning").len(), 1);
    for name in ["object", "patch"] {
        assert_eq!(done.failures(name).len(), 1, "{name}");
    }
    let results = done.value["results"].as_array().unwrap();
    let object = results.iter().find(|r| r["name"] == "object").unwrap();
    let got = &object["failures"][0]["got"];
    assert_eq!(got["metadata"]["labels"]["owner"], "portcullis-test");
}

#[test]
fn the_request_is_as_the_case_says() {
    let folder = folder();
    folder.write(
        "policies/a-told.js",
        "if (object?.metadata.name !== 'told' && oldObject?.metadata.name !== 'told') return\n\
         return [req.operation, req.userInfo.username, req.userInfo.groups.join('+'), req.namespace, req.dryRun,\
         object ? 'new' : '-', oldObject ? 'old' : '-'].join(' ')",
    );
    let told = || pod("told", "a:1");
    let message = |name: &str, rest: Value, message: &str| {
        let mut case = rest;
        case["name"] = json!(name);
        case["expect"] = json!({"allowed": false, "policy": "a-told", "message": format!("^a-told: {message}$")});
        case
    };
    let all = json!([
        message(
            "plain",
            json!({"object": told()}),
            "CREATE portcullis-test system:authenticated default false new -"
        ),
        message(
            "update",
            json!({"object": told(), "oldObject": told(), "operation": "UPDATE", "user": "eve", "groups": ["devs"],
                "namespace": "prod", "dryRun": true}),
            r"UPDATE eve devs\+system:authenticated prod true new old"
        ),
        message(
            "delete",
            json!({"object": told(), "operation": "delete"}),
            "DELETE .* default false - old"
        ),
        message(
            "delete old",
            json!({"oldObject": told(), "operation": "DELETE"}),
            "DELETE .* default false - old"
        ),
    ]);
    cases(&folder, "a.test.yml", &all);
    let done = test(&folder, &["."]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
}

#[test]
fn labels_of_the_namespace_are_known_to_plugins() {
    let folder = Folder::new();
    folder.write("portcullis.yaml", "admission: {order: [PodSecurity]}\n");
    let mut privileged = pod("a", "a:1");
    privileged["spec"]["containers"][0]["securityContext"] = json!({"privileged": true});
    let enforce = json!({"pod-security.kubernetes.io/enforce": "baseline"});
    let all = json!([
        {"name": "held", "object": privileged, "namespace": "prod", "namespaceLabels": enforce,
            "expect": {"allowed": false, "policy": "PodSecurity", "message": "privileged"}},
        {"name": "not held", "object": privileged, "namespace": "prod", "expect": {"allowed": true}},
    ]);
    cases(&folder, "a.test.yaml", &all);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
}

#[test]
fn no_case_sees_what_another_left() {
    let folder = folder();
    folder.write(
        "policies/count.js",
        "ac.GlobalContext.n = (ac.GlobalContext.n ?? 0) + 1\nif (ac.GlobalContext.n > 1) return 'seen before'\n",
    );
    let one = expecting("one", &pod("a", "a:1"), &json!({"allowed": true}));
    cases(&folder, "a.test.yaml", &json!([one.clone(), one.clone()]));
    cases(&folder, "b.test.yaml", &json!([one]));
    assert_eq!(test(&folder, &[]).code, Some(0));
}

#[test]
fn a_policy_that_fails_is_no_refusal_as_expected() {
    let folder = folder();
    folder.write("policies/broken.js", "return object.a.b");
    let refused = json!({"allowed": false});
    let told = json!({"allowed": false, "message": "cannot read property"});
    let all = json!([
        expecting("hopeful", &pod("a", "a:1"), &refused),
        expecting("told", &pod("a", "a:1"), &told),
    ]);
    cases(&folder, "a.test.yaml", &all);
    let done = test(&folder, &[]);
    assert_eq!(done.outcomes(), [("hopeful", "failed"), ("told", "passed")]);
    assert_eq!(done.code, Some(1));
}

#[test]
fn ci_jobs_are_judged_at_their_door() {
    let folder = Folder::new();
    folder.write(
        "policies/tags.ts",
        "export const policy = {match: {doors: [\"ci\"]}};\nexport default () => { if (req.namespace !== \"shop/web\") return \"lost\"; };\n",
    );
    let job = |project: &str| json!({"apiVersion": "ci.portcullis.dev/v1", "kind": "Job", "metadata": {"name": "j"}, "project": project});
    let all = json!([
        expecting("here", &job("shop/web"), &json!({"allowed": true})),
        expecting(
            "there",
            &job("shop/api"),
            &json!({"allowed": false, "policy": "tags"})
        ),
    ]);
    cases(&folder, "policies/tags.test.yaml", &all);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
}

#[test]
fn a_folder_of_policies_alone_is_enough() {
    let folder = Folder::new();
    folder.write("p/no.js", "return 'no'");
    cases(
        &folder,
        "p/no.test.yaml",
        &json!([expecting("no", &pod("a", "a"), &json!({"allowed": false}))]),
    );
    folder.write("p/node_modules/x/y.test.yaml", "tests: {");
    folder.write("p/.hidden/y.test.yaml", "tests: {");
    assert_eq!(test(&folder, &["p"]).outcomes(), [("no", "passed")]);
}
