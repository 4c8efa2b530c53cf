use std::time::Duration;

use portcullis_core::{DecisionId, clock};
use serde_json::{Value, json};

use super::*;

fn wire(version: &str, spec: &Value) -> Vec<u8> {
    let version = format!("authorization.k8s.io/{version}");
    json!({"apiVersion": version, "kind": "SubjectAccessReview", "spec": spec})
        .to_string()
        .into_bytes()
}

fn decode(version: &str, spec: &Value) -> Result<AccessReview, JsonFault> {
    decode_access(&wire(version, spec), DoorContext::default())
}

#[test]
fn reads_resources_with_selectors_in_both_versions() {
    for (version, groups) in [("v1", "groups"), ("v1beta1", "group")] {
        let mut spec = json!({"user": "ann", "uid": "7", "extra": {"k": ["v"]}, "resourceAttributes": {
            "verb": "list", "resource": "pods", "namespace": "dev", "group": null, "subresource": "log",
            "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]}}});
        spec[groups] = json!(["g"]);
        let access = decode(version, &spec).unwrap().access;
        assert_eq!(
            (access.user.username.as_str(), access.user.groups.as_slice()),
            ("ann", &["g".to_owned()][..])
        );
        assert_eq!(access.verb, "list");
        let Target::Resource(target) = access.target else {
            panic!("a resource")
        };
        assert_eq!(
            (target.resource.as_str(), target.subresource.as_str()),
            ("pods", "log")
        );
        assert_eq!(target.field_selector[0].values, ["n1"]);
    }
}

#[test]
fn selectors_may_be_texts() {
    let spec = json!({"user": "ann", "resourceAttributes": {"verb": "list", "resource": "pods",
        "fieldSelector": {"rawSelector": "spec.nodeName=n1"}, "labelSelector": {"rawSelector": "app in (a)"}}});
    let Target::Resource(target) = decode("v1", &spec).unwrap().access.target else {
        panic!("a resource")
    };
    assert_eq!(target.field_selector[0].values, ["n1"]);
    assert_eq!(target.label_selector[0].values, ["a"]);
    let odd = json!({"user": "ann", "resourceAttributes": {"fieldSelector": {"rawSelector": "x"},
        "labelSelector": {"rawSelector": null, "requirements": null}}});
    let Target::Resource(target) = decode("v1", &odd).unwrap().access.target else {
        panic!("a resource")
    };
    assert!(target.field_selector.is_empty() && target.label_selector.is_empty());
    let wrong = json!({"user": "ann", "resourceAttributes": {"fieldSelector": {"rawSelector": 7}}});
    assert!(decode("v1", &wrong).is_err());
}

#[test]
fn reads_paths() {
    let spec = json!({"user": "ann", "nonResourceAttributes": {"path": "/healthz", "verb": "get"}});
    assert_eq!(
        decode("v1", &spec).unwrap().access.target,
        Target::Path("/healthz".into())
    );
}

#[test]
fn refuses_what_does_not_say_what_is_asked() {
    for spec in [
        json!(null),
        json!({"user": "a"}),
        json!({"user": "a", "resourceAttributes": "pods"}),
        json!({"user": "a", "resourceAttributes": {}, "nonResourceAttributes": {}}),
        json!({"user": "a", "resourceAttributes": []}),
        json!({"user": "a", "nonResourceAttributes": ["/healthz", "get"]}),
        json!({"user": "a", "resourceAttributes": {"fieldSelector": []}}),
        json!({"user": 7, "resourceAttributes": {}}),
    ] {
        assert!(decode("v1", &spec).is_err(), "{spec}");
    }
    assert!(decode("v7", &json!({"resourceAttributes": {}})).is_err());
}

#[test]
fn an_error_is_shown_and_never_allows() {
    let verdict = AccessVerdict {
        id: DecisionId::new(clock::wall()),
        opinion: Opinion::NoOpinion("a could not decide".into()),
        authorizer: None,
        error: Some("a: broken".into()),
        trace: vec![],
        duration: Duration::ZERO,
    };
    let answer: Value =
        serde_json::from_slice(&encode_access("authorization.k8s.io/v1", &verdict)).unwrap();
    assert_eq!(
        answer["status"],
        json!({"allowed": false, "reason": "a could not decide", "evaluationError": "a: broken"})
    );
}

#[test]
fn an_allow_names_its_authorizer_and_a_deny_is_one() {
    let answer = |opinion: Opinion, authorizer: Option<&str>| -> Value {
        let verdict = AccessVerdict {
            id: DecisionId::new(clock::wall()),
            opinion,
            authorizer: authorizer.map(Into::into),
            error: None,
            trace: vec![],
            duration: Duration::ZERO,
        };
        serde_json::from_slice(&encode_access("authorization.k8s.io/v1", &verdict)).unwrap()
    };
    let status = json!({"allowed": true, "reason": "allowed by authorizer \"a\": rule \"x\"\n"});
    assert_eq!(
        answer(Opinion::Allow("rule \"x\"\n".into()), Some("a")),
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": status})
    );
    assert_eq!(
        answer(Opinion::Allow(String::new()), Some("a"))["status"],
        json!({"allowed": true, "reason": "allowed by authorizer \"a\""})
    );
    assert_eq!(
        answer(Opinion::Deny("no".into()), Some("a"))["status"],
        json!({"allowed": false, "denied": true, "reason": "no"})
    );
}

#[test]
fn hands_out_where_the_parts_of_the_body_are() {
    let spec = json!({"nonResourceAttributes": {"path": "/x", "verb": "get"}});
    let review = decode("v1", &spec).unwrap();
    assert_eq!(review.index.end_of(0), Some(wire("v1", &spec).len()));
}
