//! What the API server's audit log keeps of a decision.

use portcullis_e2e::Phase;
use serde_json::{Value, json};

use crate::manifests::{pod, privileged_pod};
use crate::pod_security::BASELINE;
use crate::suite::{Space, in_namespace};

#[test]
fn every_decision_is_in_the_audit_log_with_its_id_and_plugin() {
    in_namespace("audited", |space| {
        let _gate = space.gate(Phase::Validating, BASELINE);
        space.kubectl.create(&privileged_pod("bad")).fails();
        space.kubectl.create(&pod("fair", json!({}))).succeeds();
        let [refused, admitted] = [403, 201].map(|code| entry(space, code));
        let ids = [&refused, &admitted].map(|entry| annotation(space, entry, "decision-id"));
        for id in ids {
            assert!(is_ulid(id), "no ULID: {id}");
        }
        assert_ne!(ids[0], ids[1]);
        assert_eq!(annotation(space, &refused, "plugin"), "PodSecurity");
    });
}

fn entry(space: &Space, code: u16) -> Value {
    space
        .suite
        .cluster
        .audited(&format!("an audit entry with {code}"), |entry| {
            entry["objectRef"]["namespace"] == space.name
                && entry["objectRef"]["resource"] == "pods"
                && entry["responseStatus"]["code"] == code
        })
}

fn annotation<'a>(space: &Space, entry: &'a Value, name: &str) -> &'a str {
    let key = format!("{}/{name}", space.webhook_name(Phase::Validating));
    entry["annotations"][&key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key}: {entry:#}"))
}

fn is_ulid(text: &str) -> bool {
    text.len() == 26
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}
