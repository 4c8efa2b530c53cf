//! Secrets that policies repeat.

use portcullis_core::patch::{self, PatchOperation};
use portcullis_core::{
    DoorContext, HostCallStep, HostFunction, PolicyMode, PolicyOutcome, PolicyStep, StepOutcome,
    Verdict,
};
use portcullis_record::Masker;
use serde_json::{Value, json};
use std::time::Duration;

use crate::fixtures::{
    allowed, attributes, creation, denied, masker, material, read, step, written,
};

fn secret() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
        "data": {"a": "aHVudGVyMjIK", "short": "eA=="}, "stringData": {"b": "corr\"ect <horse>"}})
}

fn message(object: &Value, text: &str) -> String {
    read(&masker(), &creation(object), denied(text))
        .summary
        .message
}

#[test]
fn texts_are_scrubbed_in_every_form() {
    for (text, expected) in [
        ("is aHVudGVyMjIK.", "is (masked)."),
        ("is hunter22.", "is (masked)."),
        ("is corr\"ect <horse>.", "is (masked)."),
        ("is corr\\\"ect <horse>.", "is (masked)."),
        ("is corr\\\"ect \\u003chorse\\u003e.", "is (masked)."),
        ("is Y29yciJlY3QgPGhvcnNlPg==.", "is (masked)."),
        (
            "is Y29yciJlY3QgPGhvcnNlPiBpcyBpdA==.",
            "is (masked)BpcyBpdA==.",
        ),
        ("cut to hunt", "cut to (masked)"),
        ("cut to hunt…", "cut to (masked)…"),
        ("cut to \"hunter2...\" yes", "cut to \"(masked)...\" yes"),
        ("cut to aHVud", "cut to (masked)"),
        ("hunter22hunter22", "(masked)"),
        ("hunting is hun", "hunting is hun"),
        ("in db of shop by ci-bot", "in db of shop by ci-bot"),
        ("", ""),
    ] {
        assert_eq!(message(&secret(), text), expected, "{text}");
    }
}

#[test]
fn overlapping_secrets_leave_nothing() {
    let object = json!({"env": {"A": "xabc", "B": "abcdefgh", "C": "abcd"}});
    assert_eq!(
        message(&object, "-xabcdefgh-abcdefgh-abcd-abcx"),
        "-(masked)-(masked)-(masked)-abcx"
    );
}

#[test]
fn long_secrets_are_known_by_their_beginning() {
    let long = "0123456789".repeat(20);
    let object = json!({"password": long});
    assert_eq!(message(&object, &format!("<{long}>")), "<(masked)>");
    assert_eq!(
        message(&object, &format!("<{}>", &long[..70])),
        "<(masked)>"
    );
    assert_eq!(
        message(&object, &format!("<{}>", &long[..50])),
        format!("<{}>", &long[..50])
    );
}

#[test]
fn what_is_public_or_says_nothing_stays() {
    let object = json!({"metadata": {"name": "shop-db"}, "env": {
        "A": "shop", "B": "ci-bot", "C": "shop-db", "D": "true", "E": "Policies", "F": "CREATE", "G": "(masked)"}});
    let text = "CREATE shop/shop-db by ci-bot: Policies says runAsNonRoot != true (masked)";
    assert_eq!(message(&object, text), text);
}

fn full_verdict(value: &str) -> Verdict {
    let policy = PolicyStep {
        started: None,
        duration: None,
        name: "p".into(),
        changed: false,
        mode: PolicyMode::Enforce,
        outcome: PolicyOutcome::Deny,
        message: Some(format!("p: {value}!")),
        source: None,
        line: Some(3),
        column: None,
        limit: None,
        description: None,
        category: None,
        severity: None,
        link: None,
    };
    let call = HostCallStep {
        started: None,
        policy: "p".into(),
        function: HostFunction::ForwardToAdmissionController,
        arguments: vec![json!({"a": [value], value: 1})],
        result: Some(json!({"said": format!("got {value}!"), "token": "from elsewhere"})),
        error: Some(format!("no {value}!")),
        duration: Duration::ZERO,
    };
    let mut verdict = denied(&format!("no: {value}!"));
    verdict.warnings = vec![format!("beware {value}!")];
    let mut first = step("Policies", StepOutcome::Denied);
    first.detail = Some(format!("detail {value}!").into());
    first.policies.push(policy);
    first.host_calls.push(call);
    first.patch.push(PatchOperation::Add {
        path: "/metadata/labels/x".into(),
        value: json!(value),
    });
    verdict.trace = vec![first];
    verdict
}

#[test]
fn every_text_of_the_record_is_scrubbed() {
    let written = written(&masker(), &creation(&secret()), full_verdict("hunter22"));
    assert!(!written.line.contains("hunter22"), "{}", written.line);
    assert!(!written.line.contains("from elsewhere"));
    let summary = serde_json::to_string(&written.summary).unwrap();
    assert!(!summary.contains("hunter22"));
    assert_eq!(written.summary.concerned, ["Policies", "p"]);
    assert_eq!(written.line.matches("(masked)").count(), 3 + 10);
}

#[test]
fn a_secret_in_base64_of_something_larger_is_found_in_host_calls() {
    let mut verdict = allowed();
    let patch = "W3sib3AiOiJhZGQiLCJ2YWx1ZSI6Imh1bnRlcjIyIn1d"; // [{"op":"add","value":"hunter22"}]
    verdict.trace[0].host_calls.push(HostCallStep {
        started: None,
        policy: "p".into(),
        function: HostFunction::ForwardToAdmissionController,
        arguments: Vec::new(),
        result: Some(json!({"patch": patch, "other": "c29tZXRoaW5nIGVsc2UgaGVyZQ=="})),
        error: None,
        duration: Duration::ZERO,
    });
    let decision = read(&masker(), &creation(&secret()), verdict);
    let result = decision.trace[0].host_calls[0].result.clone().unwrap();
    assert_eq!(
        result,
        json!({"patch": "(masked)", "other": "c29tZXRoaW5nIGVsc2UgaGVyZQ=="})
    );
}

/// The record of an object that was changed so.
fn changed(masker: &Masker, object: &Value, to: &Value) -> Value {
    let body = creation(object).to_string();
    let mut attributes = attributes(&body, DoorContext::default());
    attributes
        .object
        .as_mut()
        .unwrap()
        .replace(to.clone())
        .unwrap();
    let mut verdict = allowed();
    verdict.patch = patch::diff(object, to);
    verdict.trace[0].outcome = StepOutcome::Changed;
    verdict.trace[0].patch = verdict.patch.clone();
    let line = masker
        .write(&material(&body, attributes, verdict))
        .unwrap()
        .line;
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["mutated"], true);
    assert_eq!(line["patch"], line["trace"][0]["patch"]);
    line["patch"].clone()
}

#[test]
fn patches_are_masked_like_the_object() {
    let before = json!({"kind": "Pod", "apiVersion": "v1", "spec": {"containers": [{"env": [{"name": "A", "value": "x"}]}]}});
    let mut after = before.clone();
    after["spec"]["containers"][0]["env"][0]["value"] = json!("planted1");
    assert_eq!(
        changed(&masker(), &before, &after),
        json!([{"op": "replace", "path": "/spec/containers/0/env/0/value", "value": "(masked)"}])
    );
    let mut after = before.clone();
    after["spec"]["containers"]
        .as_array_mut()
        .unwrap()
        .push(json!({"image": "i", "env": [{"name": "B", "value": "planted2"}]}));
    after["spec"]["containers"][0]["env"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "C", "value": "planted3"}));
    after["metadata"] =
        json!({"annotations": {"token": "planted4", "copy": "planted2", "ok": "fine"}});
    assert_eq!(
        changed(&masker(), &before, &after),
        json!([
            {"op": "add", "path": "/metadata", "value": {"annotations": {"token": "(masked)", "copy": "(masked)", "ok": "fine"}}},
            {"op": "add", "path": "/spec/containers/0/env/1", "value": {"name": "C", "value": "(masked)"}},
            {"op": "add", "path": "/spec/containers/1", "value": {"image": "i", "env": [{"name": "B", "value": "(masked)"}]}},
        ])
    );
    let before = json!({"kind": "Secret", "apiVersion": "v1", "data": {"a": "eA=="}});
    let after = json!({"kind": "Secret", "apiVersion": "v1", "data": {"a": "eQ=="}, "stringData": {"b": "z", "c": 7}});
    assert_eq!(
        changed(&masker(), &before, &after),
        json!([
            {"op": "replace", "path": "/data/a", "value": "(masked)"},
            {"op": "add", "path": "/stringData", "value": {"b": "(masked)", "c": 0}},
        ])
    );
    let before = json!({"kind": "List", "apiVersion": "v1", "items": [{"kind": "Secret", "apiVersion": "v1", "data": {}}]});
    let mut after = before.clone();
    after["items"][0]["data"]["a"] = json!("eA==");
    assert_eq!(changed(&masker(), &before, &after)[0]["value"], "(masked)");
}

#[test]
fn patches_are_masked_by_the_paths_of_the_configuration() {
    let paths = ["$.spec.pin", "$.spec.users[?@.admin].mail", "$.spec.all"].map(str::to_owned);
    let masker = Masker::new(&paths).unwrap();
    let before = json!({"spec": {"users": [{"admin": 1, "mail": "a@x"}]}});
    let mut after = before.clone();
    after["spec"]["pin"] = json!(77);
    after["spec"]["all"] = json!({"x": "y"});
    after["spec"]["users"][0]["mail"] = json!("b@x");
    assert_eq!(
        changed(&masker, &before, &after),
        json!([
            {"op": "add", "path": "/spec/all", "value": {}},
            {"op": "add", "path": "/spec/pin", "value": 0},
            {"op": "replace", "path": "/spec/users/0/mail", "value": "(masked)"},
        ])
    );
    let before = json!({});
    assert_eq!(
        changed(&masker, &before, &after),
        json!([{"op": "add", "path": "/spec", "value":
            {"all": {}, "pin": 0, "users": [{"admin": 1, "mail": "(masked)"}]}}])
    );
}

#[test]
fn a_secret_that_a_policy_copies_elsewhere_is_scrubbed_from_the_patch() {
    let object =
        json!({"kind": "Pod", "apiVersion": "v1", "env": {"A": "planted1", "N": "123456"}});
    let mut after = object.clone();
    after["metadata"] = json!({"labels": {"x": "planted1", "planted1": "y"}, "n": 123456});
    assert_eq!(
        changed(&masker(), &object, &after),
        json!([{"op": "add", "path": "/metadata", "value": {"labels": {"x": "(masked)", "(masked)": "y"}, "n": 0}}])
    );
}

#[test]
fn what_policies_print_is_scrubbed() {
    let body = creation(&secret()).to_string();
    let mut attributes = attributes(&body, DoorContext::default());
    assert_eq!(
        masker().scrub_for(&attributes, "so: hunter22"),
        "so: (masked)"
    );
    assert_eq!(
        masker().scrub_for(&attributes, "so: shop/db"),
        "so: shop/db"
    );
    attributes.object.as_mut().unwrap().value_mut().unwrap()["stringData"]["c"] =
        json!("latecomer");
    assert_eq!(
        masker().scrub_for(&attributes, "latecomer hunter22"),
        "(masked) (masked)"
    );
    attributes
        .user
        .extra
        .insert("x/token".into(), vec!["opaque".into()]);
    assert_eq!(masker().scrub_for(&attributes, "by opaque"), "by (masked)");
    attributes.object = Some(portcullis_core::Document::from_text("{"));
    assert_eq!(masker().scrub_for(&attributes, "so: x"), "(masked)");
}

#[test]
fn secrets_in_secrets_are_found() {
    let config = json!({"auths": {"r.example.com": {"username": "bob", "password": "p4ssw0rd"}}});
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
    let key = "-----BEGIN PRIVATE KEY-----\nMIIBVgIBADANBgkq\n-----END PRIVATE KEY-----\n";
    let object = json!({"kind": "Secret", "apiVersion": "v1",
        "stringData": {".dockerconfigjson": config.to_string(), "tls.key": key}, "note": format!("x {jwt}"),
        "env": ["LEVEL=lowered", "postgres://me:dbpass77@db:5432/x", "Server=tcp:db1;Password=sqlpass7;Encrypt=True"]});
    for (text, expected) in [
        ("by bob: p4ssw0rd!", "by bob: (masked)!"),
        ("line MIIBVgIBADANBgkq!", "line (masked)!"),
        ("sig c2lnbmF0dXJl!", "sig (masked)!"),
        ("is lowered!", "is (masked)!"),
        ("is dbpass77!", "is (masked)!"),
        ("is sqlpass7 at tcp:db1!", "is (masked) at tcp:db1!"),
        (&format!("all {jwt}!"), "all (masked)!"),
        (&format!("all {key}!"), "all (masked)\n!"),
        (
            "another eyJhbGciOiJIUzI1NiJ9.e30.YWJj and eyJhbGciOiJIUzI1NiJ9.e30.!",
            "another (masked) and (masked)!",
        ),
    ] {
        assert_eq!(message(&object, text), expected, "{text}");
    }
}

/// Objects and texts made to take long. A slow test is a regression.
#[test]
fn hostile_objects_and_texts_cost_little() {
    let many: serde_json::Map<String, Value> = (0..19_000)
        .map(|i| (format!("k{i}"), json!(format!("aaaaaaaaaaaaaaaa{i}"))))
        .collect();
    let object = json!({"kind": "Secret", "apiVersion": "v1", "stringData": many, "password": "a".repeat(300_000)});
    let text = "a".repeat(200_000);
    assert_eq!(message(&object, &text), "(masked)");
    let text = format!("{}b", "a".repeat(60)).repeat(3000);
    assert!(!message(&object, &text).contains("aaaa"));
    let tokens = "eyJhbGciOiJIUzI1NiJ9.e30.YWJj ".repeat(20_000);
    assert!(!message(&json!({}), &tokens).contains("eyJ"));
    // More secrets than are looked for: no text is kept.
    let too_many: serde_json::Map<String, Value> = (0..20_001)
        .map(|i| (format!("k{i}"), json!(i + 1_000_000)))
        .collect();
    let object = json!({"kind": "Secret", "apiVersion": "v1", "data": too_many});
    assert_eq!(message(&object, "anything"), "(masked)");
}
