use std::time::Duration;

use portcullis_net::pem_of;
use serde_json::{Value, json};

use super::super::finding::State;
use super::super::registered::tests::registered;
use super::super::selector::labels_of_name;
use super::*;

const OPEN_RULE: &str = r#"{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}"#;

fn again() -> Again<'static> {
    Again {
        file: std::path::Path::new("portcullis.yaml"),
        loaded: None,
    }
}

fn rule() -> Value {
    serde_json::from_str(OPEN_RULE).unwrap()
}

/// A validating webhook of a Service, with these keys besides.
#[expect(clippy::needless_pass_by_value, reason = "it is written in the call")]
pub(super) fn webhook(more: Value) -> Registered {
    let mut webhook = json!({
        "name": "validate.portcullis.dev",
        "clientConfig": {"service": {"namespace": "gate", "name": "portcullis", "path": "/validate"}},
        "rules": [rule()],
    });
    for (key, value) in more.as_object().unwrap() {
        webhook[key] = value.clone();
    }
    registered(Phase::Validating, webhook)
}

pub(super) fn namespaces() -> BTreeMap<String, Labels> {
    let names = ["gate", "kube-system"];
    names
        .map(|name| (name.to_owned(), labels_of_name(name)))
        .into()
}

fn needed() -> Registration {
    Registration {
        rules: webhook(json!({})).rules(),
        may_change: false,
        may_deny: true,
        fails_open: false,
        has_side_effects: false,
        timeout_seconds: 5,
        notes: Vec::new(),
    }
}

#[test]
fn timeouts_must_exceed_the_deadline() {
    let deadline = Some(Duration::from_secs(2));
    assert!(timeout(&webhook(json!({"timeoutSeconds": 5})), deadline).is_none());
    let found = timeout(&webhook(json!({"timeoutSeconds": 2})), deadline).unwrap();
    assert_eq!(found.state, State::Warning);
    // By default the API server waits 10s.
    assert!(timeout(&webhook(json!({})), Some(Duration::from_secs(10))).is_some());
}

#[test]
fn ignoring_failures_is_odd_where_the_configuration_does_not() {
    let ignoring = webhook(json!({"failurePolicy": "Ignore"}));
    assert_eq!(
        failure_policy(&ignoring, &needed()).unwrap().state,
        State::Warning
    );
    let open = Registration {
        fails_open: true,
        ..needed()
    };
    assert_eq!(failure_policy(&ignoring, &open), None);
    assert_eq!(failure_policy(&webhook(json!({})), &needed()), None);
}

#[test]
fn paths_are_those_of_reviews() {
    let at = |phase, path: &str| {
        let url = format!("https://gate.example{path}");
        registered(phase, json!({"name": "x", "clientConfig": {"url": url}}))
    };
    let changes = Registration {
        may_change: true,
        ..needed()
    };
    for (phase, asked, expected) in [
        (Phase::Validating, "/validate", None),
        (Phase::Validating, "/validate/shop", None),
        (Phase::Mutating, "/mutate", None),
        (Phase::Validating, "/", Some(State::Problem)),
        (Phase::Validating, "/validate-pods", Some(State::Problem)),
        (Phase::Mutating, "/validate", Some(State::Problem)),
        (Phase::Validating, "/mutate", Some(State::Problem)),
    ] {
        let found = path(&at(phase, asked), &changes, again());
        assert_eq!(found.map(|found| found.state), expected, "{asked}");
    }
    let nowhere = registered(Phase::Validating, json!({"name": "x"}));
    assert!(path(&nowhere, &changes, again()).is_some());
}

#[test]
fn the_bundle_must_be_the_ca_of_the_certificate() {
    let pki = portcullis_testing::Pki::of(&["portcullis.gate.svc"]);
    let other = portcullis_testing::Authority::new("other");
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000);
    let chains = [vec![pki.server.certificate.clone()]];
    let with = |pem: &str| {
        let bundle = BASE64_STANDARD.encode(pem);
        webhook(json!({"clientConfig": {
            "service": {"namespace": "gate", "name": "portcullis", "path": "/validate"}, "caBundle": bundle,
        }}))
    };
    let right = with(&pem_of(&pki.authority.certificate));
    let state = |one: &Registered, chains: &[Vec<Certificate>]| {
        authority(one, again(), chains, now).unwrap().state
    };
    assert_eq!(state(&right, &chains), State::Ok);
    assert_eq!(state(&with(&other.certificate()), &chains), State::Problem);
    assert_eq!(state(&with("no certificates"), &chains), State::Problem);
    assert_eq!(state(&right, &[]), State::Skipped);
    assert_eq!(state(&webhook(json!({})), &chains), State::Warning);
    let unnamed = portcullis_testing::Pki::of(&["elsewhere.example"]);
    let bundle = with(&pem_of(&unnamed.authority.certificate));
    assert_eq!(
        state(&bundle, &[vec![unnamed.server.certificate.clone()]]),
        State::Problem
    );
    let broken = webhook(json!({"clientConfig": {"url": "https://a/validate", "caBundle": "?"}}));
    assert_eq!(state(&broken, &chains), State::Problem);
}

#[test]
fn rules_that_leave_something_out_are_found() {
    let state = |all: &[Registered], needed: &Registration| {
        let found = coverage(all, needed, again(), PendingMutation::Ignore);
        found
            .into_iter()
            .map(|found| found.state)
            .collect::<Vec<_>>()
    };
    let whole = webhook(json!({}));
    assert_eq!(state(std::slice::from_ref(&whole), &needed()), [State::Ok]);
    let mut services = rule();
    services["resources"] = json!(["services"]);
    assert_eq!(
        state(&[webhook(json!({"rules": [services]}))], &needed()),
        [State::Warning]
    );
    // The other phase does not help.
    let mutating = Registered {
        phase: Phase::Mutating,
        ..whole.clone()
    };
    assert_eq!(state(&[mutating], &needed()), [State::Warning]);
    let changes = Registration {
        may_change: true,
        ..needed()
    };
    assert_eq!(
        state(std::slice::from_ref(&whole), &changes),
        [State::Warning, State::Ok]
    );
    let found = coverage(&[whole], &changes, again(), PendingMutation::Refuse);
    assert_eq!(found.len(), 1);
}

#[test]
fn nothing_registered_is_worth_a_word() {
    let found = check(&[], again(), &[], &namespaces(), SystemTime::UNIX_EPOCH);
    assert_eq!(found[0].state, State::Skipped);
}
