//! `SubjectAccessReview`, v1 and v1beta1.

use serde_json::{Value, json};

use crate::tests::harness::{Gate, Setup, access, path_access, request};

const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

fn chains(chains: &Value) -> Gate {
    Gate::start(json!({"authorization": {"chains": chains}}))
}

#[test]
fn the_first_opinion_in_a_chain_wins() {
    let gate = chains(&json!({
        "open": ["AlwaysAllow"],
        "shut": ["AlwaysDeny"],
        "open-first": ["AlwaysAllow", "AlwaysDeny"],
        "shut-first": ["AlwaysDeny", "AlwaysAllow"],
    }));
    for version in VERSIONS {
        for review in [
            access(version, "alice", &["ops"], &json!({})),
            path_access(version, "alice", &[], "get", "/healthz"),
        ] {
            for (chain, is_allowed) in [
                ("open", true),
                ("shut", false),
                ("open-first", true),
                ("shut-first", false),
            ] {
                let status = gate.access(&format!("/authorize/{chain}"), &review);
                assert_eq!(status["allowed"], is_allowed, "{chain}: {status}");
                assert_eq!(status["denied"] == true, !is_allowed, "{chain}: {status}");
                let reason = status["reason"].as_str().unwrap();
                match is_allowed {
                    true => assert!(reason.starts_with("allowed by authorizer \""), "{status}"),
                    false => assert!(!reason.is_empty(), "{status}"),
                }
                assert_eq!(status.get("evaluationError"), None);
            }
        }
    }
}

#[test]
fn the_plain_path_is_the_chain_default() {
    let review = access("v1", "alice", &[], &json!({}));
    let gate = chains(&json!({"default": ["AlwaysDeny"], "open": ["AlwaysAllow"]}));
    for path in ["/authorize", "/authorize/default"] {
        assert_eq!(gate.access(path, &review)["denied"], true, "{path}");
    }
    let gate = chains(&json!({"open": ["AlwaysAllow"]}));
    gate.post("/authorize", &review).error(404);
    assert_eq!(gate.access("/authorize/open", &review)["allowed"], true);
}

#[test]
fn without_chains_there_is_nobody_to_ask() {
    let review = access("v1", "alice", &[], &json!({}));
    Gate::of(&["AlwaysAdmit"])
        .post("/authorize", &review)
        .error(404);
}

#[test]
fn wrong_input_is_an_error_and_never_an_allow() {
    let gate = chains(&json!({"open": ["AlwaysAllow"]}));
    let good = access("v1", "alice", &[], &json!({}));
    gate.post("/authorize/nope", &good).error(404);
    gate.post("/authorize/open/more", &good).error(404);
    for body in [
        "{",
        "",
        "null",
        "[]",
        "{\"spec\":{}}",
        &format!("{good}{good}"),
    ] {
        gate.post_bytes("/authorize/open", body.as_bytes())
            .error(400);
    }
    let admission = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
    let both = json!({"user": "a", "resourceAttributes": {}, "nonResourceAttributes": {}});
    for (key, value) in [
        ("spec", Value::Null),
        ("spec", json!({"user": "a"})),
        ("spec", json!({"user": "a", "resourceAttributes": "pods"})),
        ("spec", json!({"user": 7, "resourceAttributes": {}})),
        ("spec", both),
        ("kind", json!("Pod")),
        ("apiVersion", json!("authorization.k8s.io/v7")),
        ("apiVersion", admission["apiVersion"].clone()),
    ] {
        let mut review = good.clone();
        review[key] = value;
        gate.post("/authorize/open", &review).error(400);
    }
    let text = good.to_string();
    let of_type = request(
        "POST",
        "/authorize/open",
        &[("Content-Type", "text/plain")],
        text.as_bytes(),
    );
    gate.raw(&of_type).unwrap().error(415);
    gate.get("/authorize/open").error(405);
    assert_eq!(gate.access("/authorize/open", &good)["allowed"], true);
}

fn line(spec: &Value) -> String {
    let version = "abac.authorization.kubernetes.io/v1beta1";
    json!({"apiVersion": version, "kind": "Policy", "spec": spec}).to_string()
}

fn attribute_file() -> String {
    [
        "# who may what".to_owned(),
        line(&json!({"user": "alice", "namespace": "*", "resource": "*", "apiGroup": "*"})),
        String::new(),
        line(&json!({"user": "bob", "namespace": "dev", "resource": "pods", "readonly": true})),
        line(&json!({"group": "viewers", "readonly": true, "nonResourcePath": "/healthz*"})),
        line(&json!({"user": "cid", "group": "ops", "namespace": "*", "resource": "*", "apiGroup": "*"})),
    ]
    .join("\n")
}

#[test]
fn an_attribute_file_allows_what_it_says_and_has_no_opinion_otherwise() {
    let authorizer = json!({"name": "local", "driver": "ABAC", "file": "abac.jsonl"});
    let chains = json!({"local": ["local"], "strict": ["local", "AlwaysDeny"]});
    let config = json!({"authorization": {"authorizers": [authorizer], "chains": chains}});
    let gate = Setup::new(config)
        .file("abac.jsonl", attribute_file())
        .start();
    let table: [(&str, &[&str], Value, bool); 14] = [
        (
            "alice",
            &[],
            json!({"verb": "delete", "group": "apps", "resource": "deployments"}),
            true,
        ),
        ("bob", &[], json!({}), true),
        ("bob", &[], json!({"verb": "watch"}), true),
        ("bob", &[], json!({"verb": "delete"}), false),
        ("bob", &[], json!({"namespace": "prod"}), false),
        ("bob", &[], json!({"resource": "secrets"}), false),
        ("bob", &[], json!({"group": "apps"}), false),
        ("dora", &["viewers"], json!({"path": "/healthz/etcd"}), true),
        (
            "dora",
            &["viewers"],
            json!({"path": "/healthz", "verb": "post"}),
            false,
        ),
        ("dora", &["viewers"], json!({}), false),
        ("dora", &[], json!({"path": "/healthz"}), false),
        ("cid", &["ops"], json!({"verb": "create"}), true),
        ("cid", &[], json!({"verb": "create"}), false),
        ("eve", &["ops"], json!({"verb": "create"}), false),
    ];
    for (user, groups, what, is_allowed) in &table {
        for version in VERSIONS {
            let review = match what["path"].as_str() {
                Some(path) => {
                    let verb = what["verb"].as_str().unwrap_or("get");
                    path_access(version, user, groups, verb, path)
                }
                None => access(version, user, groups, what),
            };
            let status = gate.access("/authorize/local", &review);
            assert_eq!(
                status["allowed"], *is_allowed,
                "{user} {groups:?} {what}: {status}"
            );
            assert!(status["denied"] != true, "no match is no opinion: {status}");
            let status = gate.access("/authorize/strict", &review);
            assert_eq!(
                status["denied"] == true,
                !is_allowed,
                "{user} {groups:?} {what}: {status}"
            );
        }
    }
}
