//! Reviews: judged as they are, among manifests.

use serde_json::{Value, json};

use super::{eval, eval_stdin, folder, settings};
use crate::harness::{Folder, Review, Setup, access, path_access, pod, privileged, run_in};

/// Says who asks for what.
const ASKED: &str = "return [req.operation, req.userInfo.username, req.namespace, req.name, req.dryRun, !!oldObject].join(' ')";

fn asked() -> Folder {
    let folder = Folder::new();
    folder.write("policies/asked.js", ASKED);
    folder
}

#[test]
fn a_review_is_judged_as_it_says() {
    let folder = asked();
    let review = Review::create(&pod())
        .set("operation", "UPDATE")
        .set("oldObject", pod())
        .set("userInfo", json!({"username": "zoe"}))
        .set("namespace", "shop")
        .set("dryRun", true);
    folder.write("review.json", review.text());
    // What flags say is for manifests.
    let flags = ["--policies", "policies", "--as", "other", "-n", "elsewhere"];
    let done = eval(&folder, &[&["review.json"], &flags[..]].concat());
    let result = &done.results()[0];
    assert_eq!(done.code, Some(1), "{}", done.value);
    assert_eq!(result["message"], "asked: UPDATE zoe shop web true true");
    assert_eq!(
        (&result["kind"], &result["namespace"], &result["name"]),
        (&json!("Pod"), &json!("shop"), &json!("web"))
    );
    let table = run_in(&folder, &["eval", "review.json", "--policies", "policies"]);
    assert!(
        table
            .out
            .starts_with("Pod shop/web   UPDATE by zoe   review.json:1\n"),
        "{}",
        table.out
    );
}

#[test]
fn reviews_stand_among_manifests_in_any_form() {
    let folder = asked();
    let yaml = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  uid: a\n  operation: DELETE\n  \
                kind: {version: v1, kind: Pod}\n  resource: {version: v1, resource: pods}\n  name: gone\n  \
                namespace: shop\n  oldObject: {apiVersion: v1, kind: Pod, metadata: {name: gone}}\n";
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [Review::create(&pod()).value(), settings()]});
    folder.write("all.yaml", format!("{}\n---\n{yaml}---\n{list}\n", pod()));
    let done = eval(&folder, &["all.yaml", "--policies", "policies"]);
    let messages: Vec<&str> = done
        .results()
        .iter()
        .map(|r| r["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        messages,
        [
            "asked: CREATE portcullis-eval default web false false",
            "asked: DELETE  shop gone false true",
            "asked: CREATE alice default web false false",
            "asked: CREATE portcullis-eval default c false false",
        ]
    );
}

#[test]
fn a_review_that_a_server_would_not_take_is_told_with_its_place() {
    let folder = asked();
    for (text, needle) in [
        (
            "{\"apiVersion\": \"admission.k8s.io/v1\",\n \"kind\": \"AdmissionReview\"}",
            "request",
        ),
        (&Review::create(&pod()).without("uid").text(), "uid"),
        (
            &Review::create(&pod()).set("operation", "PATCH").text(),
            "operation",
        ),
        (
            "{\"apiVersion\": \"admission.k8s.io/v9\",\n \"kind\": \"AdmissionReview\", \"request\": {}}",
            "v9",
        ),
    ] {
        folder.write("review.json", text);
        let ran = run_in(
            &folder,
            &[
                "eval",
                "review.json",
                "--policies",
                "policies",
                "-o",
                "json",
            ],
        );
        assert_eq!(ran.code, Some(3), "{text}: {}", ran.out);
        assert!(ran.err.contains("error: review.json:"), "{}", ran.err);
        assert!(ran.err.contains(needle), "{needle}: {}", ran.err);
    }
}

#[test]
fn plain_arguments_are_files_too() {
    let folder = folder();
    let chain = ["--admission-control", "AlwaysAdmit"];
    let done = eval(
        &folder,
        &[
            &["fine.yaml", "-f", "wrong.yaml", "settings.yaml"],
            &chain[..],
        ]
        .concat(),
    );
    let files: Vec<&Value> = done.results().iter().map(|r| &r["file"]).collect();
    assert_eq!(files, ["wrong.yaml", "fine.yaml", "settings.yaml"]);
    let (code, out) = eval_stdin(
        &folder,
        &["-", "--admission-control", "AlwaysAdmit"],
        &pod().to_string(),
    );
    assert_eq!(code, Some(0));
    assert!(out.starts_with("Pod default/web"), "{out}");
}

const ABAC: &str = r#"{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "alice", "namespace": "*", "resource": "pods", "apiGroup": "*"}}"#;

fn authorizing() -> Value {
    json!({
        "authorization": {
            "authorizers": [
                {"name": "local", "driver": "ABAC", "file": "abac.jsonl"},
                {"name": "never", "driver": "AlwaysDeny"},
            ],
            "chains": {"default": ["local"], "strict": ["local", "never"]},
        },
        "admission": {"order": ["AlwaysAdmit"]},
    })
}

#[test]
fn access_is_judged_by_the_authorizers_as_the_server_does() {
    let gate = Setup::new(authorizing()).file("abac.jsonl", ABAC).start();
    let reviews = [
        access("v1", "alice", &[], &json!({"name": "web"})),
        access("v1beta1", "bob", &["g"], &json!({})),
        path_access("v1", "alice", &[], "get", "/healthz"),
    ];
    for (chain, flags) in [("", &[][..]), ("/strict", &["--chain", "strict"])] {
        for review in &reviews {
            gate.folder.write("review.json", review.to_string());
            let done = eval(&gate.folder, &[&["review.json"], flags].concat());
            let answer = gate.access(&format!("/authorize{chain}"), review);
            let (result, status) = (&done.results()[0], &answer);
            assert_eq!(
                result["allowed"], status["allowed"],
                "{review}: {}",
                done.value
            );
            let denied = status["denied"] == true;
            assert_eq!(
                result["policy"],
                if denied { json!("never") } else { json!(null) }
            );
            let code = if status["allowed"] == true { 0 } else { 1 };
            assert_eq!(done.code, Some(code), "{}", done.value);
        }
    }
    gate.folder
        .write("all.yaml", format!("{}\n---\n{}", reviews[0], privileged()));
    let table = run_in(&gate.folder, &["eval", "all.yaml"]);
    assert_eq!(table.code, Some(0), "{}", table.err);
    assert!(
        table.out.starts_with(
            "SubjectAccessReview get pods dev/web   by alice   all.yaml:1\n  allow  local"
        ),
        "{}",
        table.out
    );
    assert!(
        table
            .err
            .starts_with("2 objects, 1 plug-in, 1 authorizer: 2 allowed"),
        "{}",
        table.err
    );
    gate.folder.write("review.json", reviews[1].to_string());
    let table = run_in(&gate.folder, &["eval", "review.json"]);
    assert!(
        table.out.contains("no authorizer allowed it"),
        "{}",
        table.out
    );
}

#[test]
fn access_needs_authorizers() {
    let folder = asked();
    folder.write(
        "review.json",
        access("v1", "alice", &[], &json!({})).to_string(),
    );
    let ran = run_in(&folder, &["eval", "review.json", "--policies", "policies"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(
        ran.err,
        "error: review.json: document 0: the SubjectAccessReview is not evaluated: authorizers decide it, not policies \
         or plug-ins: give --config FILE with `authorization`\n\n\
         For more information, try 'portcullis eval --help'.\n"
    );
    folder.write("portcullis.yaml", "admission: {order: [AlwaysAdmit]}");
    let ran = run_in(&folder, &["eval", "review.json"]);
    assert_eq!(ran.code, Some(3));
    let example = "authorization: {authorizers: [{name: local, driver: ABAC, file: abac.jsonl}], chains: {default: [local]}}";
    assert_eq!(
        ran.err,
        format!(
            "error: review.json: document 0: the SubjectAccessReview is not evaluated: portcullis.yaml: no authorizer \
             chain is configured: add one, for example `{example}`\n"
        )
    );
    // The example is one that works, and is said once for any number of reviews.
    folder.write("abac.jsonl", ABAC);
    folder.write("portcullis.yaml", example);
    let allowed = access("v1", "alice", &[], &json!({})).to_string();
    folder.write("review.json", allowed.clone());
    let ran = run_in(&folder, &["eval", "review.json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    folder.write("portcullis.yaml", "admission: {order: [AlwaysAdmit]}");
    folder.write(
        "all.yaml",
        format!("{allowed}\n---\n{}\n---\n{allowed}", privileged()),
    );
    let ran = run_in(&folder, &["eval", "all.yaml"]);
    assert_eq!(ran.code, Some(3));
    let lines: Vec<&str> = ran.err.lines().collect();
    let [summary, error] = lines.as_slice() else {
        panic!("{}", ran.err)
    };
    assert!(
        summary.starts_with("1 object, 1 plug-in: 1 allowed"),
        "{summary}"
    );
    assert!(error.ends_with("; the same holds for 1 more"), "{error}");
    folder.write("abac.jsonl", ABAC);
    folder.write("portcullis.yaml", authorizing().to_string());
    let ran = run_in(&folder, &["eval", "review.json", "--chain", "strikt"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["did you mean `strict`?"]);
}
