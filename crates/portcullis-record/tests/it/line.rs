//! The shape of a line.

use portcullis_core::{DoorContext, Phase, StepOutcome};
use portcullis_record::{Answer, Decision, WebhookName};
use serde_json::json;

use crate::fixtures::{
    allowed, attributes, creation, denied, masker, material, read, step, written,
};

#[test]
fn keys_are_in_the_order_of_the_contract() {
    let body = creation(&json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}}))
        .to_string();
    let mut material = material(
        &body,
        attributes(&body, DoorContext::default()),
        denied("no"),
    );
    material.traceparent = Some("00-1-2-01".into());
    let line = masker().write(&material).unwrap().line;
    let mut at = 0;
    for key in [
        "id",
        "time",
        "door",
        "operation",
        "kind",
        "namespace",
        "name",
        "user",
        "verdict",
        "mutated",
        "message",
        "plugin",
        "policy",
        "digest",
        "gate",
        "duration_us",
        "warnings",
        "traceparent",
        "patch",
        "trace",
        "input",
    ] {
        let place = line[at..]
            .find(&format!("\"{key}\":"))
            .unwrap_or_else(|| panic!("{key}"));
        at += place;
    }
    assert!(line.starts_with("{\"id\":\"01"));
    assert!(!line.contains('\n'));
}

#[test]
fn a_line_says_what_was_decided() {
    let object = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}});
    let written = written(&masker(), &creation(&object), denied("no"));
    let decision = Decision::from_line(&written.line).unwrap();
    let summary = &decision.summary;
    assert_eq!(summary.time, "2026-09-21T14:13:20.123000Z");
    assert_eq!(decision.input.received, "2026-09-21T14:13:20.120000000Z");
    assert_eq!(summary.operation, "CREATE");
    assert_eq!(
        (
            summary.kind.as_str(),
            summary.namespace.as_str(),
            summary.name.as_str()
        ),
        ("Pod", "shop", "web")
    );
    assert_eq!(summary.user, "ci-bot");
    assert_eq!(summary.verdict, Answer::Deny);
    assert_eq!(summary.message, "no");
    assert_eq!(summary.plugin.as_deref(), Some("Policies"));
    assert_eq!(summary.policy.as_deref(), Some("no"));
    assert_eq!(summary.gate.as_deref(), Some("sha256:gate"));
    assert_eq!(summary.duration_us, 42);
    assert_eq!(decision.trace[0].plugin, "Policies");
    assert_eq!(decision.trace[0].phase, Some(Phase::Admit.into()));
    assert_eq!(decision.input.webhook.unwrap().name, WebhookName::Mutate);
    assert_eq!(&written.summary, summary);
}

#[test]
fn the_name_is_the_one_people_look_for() {
    for (metadata, name, expected) in [
        (json!({"name": "own"}), "asked", "asked"),
        (json!({"name": "own"}), "", "own"),
        (json!({"name": "", "generateName": "web-"}), "", "web-*"),
        (json!({}), "", ""),
    ] {
        let mut review = creation(&json!({"metadata": metadata}));
        review["request"]["name"] = json!(name);
        assert_eq!(read(&masker(), &review, allowed()).summary.name, expected);
    }
}

#[test]
fn long_public_texts_are_cut() {
    let mut review = creation(&json!({}));
    review["request"]["userInfo"]["username"] = json!("ü".repeat(5000));
    let summary = read(&masker(), &review, allowed()).summary;
    assert_eq!(summary.user.chars().count(), 1024);
}

#[test]
fn those_who_had_something_to_say_are_concerned() {
    let mut verdict = allowed();
    let mut warned = step("Warns", StepOutcome::Passed);
    warned.warnings = 1;
    verdict.trace = vec![
        step("Quiet", StepOutcome::Passed),
        step("Skips", StepOutcome::Skipped),
        step("Changes", StepOutcome::Changed),
        warned,
        step("Fails", StepOutcome::Timeout),
        step("Changes", StepOutcome::Changed),
    ];
    let summary = read(&masker(), &creation(&json!({})), verdict).summary;
    assert_eq!(summary.concerned, ["Changes", "Warns", "Fails"]);
}

#[test]
fn the_caller_is_written_down() {
    let body = creation(&json!({})).to_string();
    let mut context = DoorContext::default();
    context.peer.address = Some("[::1]:77".parse().unwrap());
    context.peer.unix = Some(portcullis_core::UnixPeer {
        uid: 1,
        gid: 2,
        pid: None,
    });
    context.peer.certificate = Some(std::sync::Arc::new(portcullis_core::PeerCertificate {
        subject: "CN=x".into(),
        common_name: Some("x".into()),
        organizations: vec!["o".into()],
        chain: vec![vec![1, 2, 3]],
    }));
    let line = masker()
        .write(&material(&body, attributes(&body, context), allowed()))
        .unwrap()
        .line;
    let http = Decision::from_line(&line).unwrap().input.http;
    assert_eq!(http.address.as_deref(), Some("[::1]:77"));
    assert_eq!(http.unix.unwrap().gid, 2);
    assert_eq!(http.certificate.unwrap().chain, ["AQID"]);
}
