//! Against real servers on loopback.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_core::{Chain, FailureMode, StepOutcome, Verdict};
use portcullis_testing::controller::{Controller, answered, no, yes};
use portcullis_testing::{Folder, Pki, Reply, Server};
use serde_json::{Value, json};

use crate::outgoing::testing::{self, pod, request};

fn chain(webhooks: &Value) -> Chain {
    let configuration = json!({"webhooks": webhooks});
    testing::chain("Webhook", &configuration, FailureMode::Closed)
}

fn decide(chain: &Chain) -> Verdict {
    chain.decide(&mut request(&pod("app"), &json!({})))
}

/// An allow with this patch.
fn patching(review: &Value, patch: &Value) -> (u16, String) {
    let patch = STANDARD.encode(patch.to_string());
    answered(
        review,
        json!({"allowed": true, "patch": patch, "patchType": "JSONPatch"}),
    )
}

fn label(name: &str) -> Value {
    json!([{"op": "add", "path": format!("/metadata/{name}"), "value": {"x": "y"}}])
}

fn message(verdict: &Verdict) -> &str {
    verdict.denial().map_or("", |denial| &denial.message)
}

#[test]
fn a_webhook_gets_the_request_as_an_api_server_sends_it() {
    let folder = Folder::new();
    let token = folder.path("token");
    std::fs::write(&token, "secret\n").unwrap();
    let controller = Controller::http(yes);
    let chain =
        chain(&json!([{"name": "w", "url": controller.url, "tokenFile": token, "timeout": "7s"}]));
    let others = json!({"operation": "UPDATE", "oldObject": pod("old"), "dryRun": true,
        "options": {"kind": "UpdateOptions"}});
    assert!(
        chain
            .decide(&mut request(&pod("app"), &others))
            .is_allowed()
    );
    let seen = controller.seen();
    assert_eq!(seen.len(), 1);
    let asked = &seen[0]["request"];
    assert_eq!(seen[0]["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(asked["uid"], "u1");
    assert_eq!(asked["object"], pod("app"));
    assert_eq!(asked["oldObject"], pod("old"));
    assert_eq!(asked["dryRun"], true);
    assert_eq!(asked["options"]["kind"], "UpdateOptions");
    assert_eq!(
        controller.last_header("authorization").as_deref(),
        Some("Bearer secret")
    );
}

#[test]
fn the_remaining_time_is_sent_and_no_credentials_by_themselves() {
    let server = Server::http(|seen| {
        let (status, body) = yes(&seen.json());
        Reply::Status(status, "", body)
    });
    let url = format!("{}/v?a=b", server.url());
    let chain = chain(&json!([{"name": "w", "url": url, "timeout": "7s"}]));
    assert!(decide(&chain).is_allowed());
    let seen = server.requests();
    assert_eq!(seen[0].target(), "/v?a=b&timeout=7s");
    assert_eq!(seen[0].header("authorization"), None);
}

#[test]
fn over_tls_with_a_certificate_of_our_own() {
    let (pki, folder) = (Pki::new(), Folder::new());
    let server = Server::mutual(&pki.server, &pki.authority, |seen| {
        let (status, body) = yes(&seen.json());
        Reply::Status(status, "", body)
    });
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path(name), text).unwrap();
        folder.path(name)
    };
    let ca = write("ca.crt", &pki.authority.certificate_pem);
    let url = format!("{}/validate", server.url());
    let mut webhook = json!({"name": "w", "url": url, "caFile": ca});
    let without = decide(&chain(&json!([webhook])));
    assert!(
        message(&without).contains("webhook \"w\""),
        "{}",
        message(&without)
    );
    webhook["clientCertificateFile"] = json!(write("tls.crt", &pki.client.certificate_pem));
    webhook["clientKeyFile"] = json!(write("tls.key", &pki.client.key_pem));
    assert!(decide(&chain(&json!([webhook]))).is_allowed());
    webhook.as_object_mut().unwrap().remove("caFile");
    let stranger = decide(&chain(&json!([webhook])));
    assert!(!stranger.is_allowed());
}

#[test]
fn over_a_unix_socket_with_a_path() {
    let folder = Folder::new();
    let server = Server::unix(&folder.path("s"), |seen| {
        let (status, body) = yes(&seen.json());
        Reply::Status(status, "", body)
    });
    let webhook = json!({"name": "w", "url": server.url(), "path": "/validate"});
    assert!(decide(&chain(&json!([webhook]))).is_allowed());
    assert_eq!(server.requests()[0].target(), "/validate");
}

#[test]
fn each_one_gets_what_the_one_before_made_of_the_object() {
    let first = Controller::http(|review| patching(review, &label("labels")));
    let second = Controller::http(|review| patching(review, &label("annotations")));
    let last = Controller::http(yes);
    let chain = chain(&json!([
        {"name": "first", "url": first.url, "phase": "mutating"},
        {"name": "last", "url": last.url},
        {"name": "second", "url": second.url, "phase": "mutating"},
    ]));
    let verdict = decide(&chain);
    assert!(verdict.is_allowed(), "{verdict:?}");
    assert_eq!(verdict.patch.len(), 2);
    assert_eq!(
        second.seen()[0]["request"]["object"]["metadata"]["labels"]["x"],
        "y"
    );
    let finished = &last.seen()[0]["request"]["object"]["metadata"];
    assert_eq!(finished["annotations"]["x"], "y");
    let calls: Vec<_> = verdict
        .trace
        .iter()
        .flat_map(|step| &step.host_calls)
        .collect();
    let names: Vec<_> = calls.iter().map(|call| call.policy.as_str()).collect();
    assert_eq!(names, ["first", "second", "last"]);
    let recorded = &calls[0].result.as_ref().unwrap()["patch"];
    assert_eq!(recorded, &label("labels"));
}

#[test]
fn a_patch_that_an_api_server_would_not_take_is_a_failure() {
    let misfit = json!([{"op": "remove", "path": "/nothing"}]);
    let whole = json!([{"op": "replace", "path": "", "value": []}]);
    for (patch, phase, words) in [
        (
            label("labels"),
            "validating",
            "may not return response.patch",
        ),
        (
            misfit,
            "mutating",
            "operation 1 of the patch does not fit the object",
        ),
        (whole, "mutating", "leaves something that is not an object"),
        (json!({}), "mutating", "not a JSON Patch"),
    ] {
        let controller = Controller::http(move |review| patching(review, &patch));
        let verdict = decide(&chain(
            &json!([{"name": "w", "url": controller.url, "phase": phase}]),
        ));
        assert!(message(&verdict).contains(words), "{}", message(&verdict));
        assert!(verdict.patch.is_empty());
        assert!(verdict.is_undecided());
    }
    let controller = Controller::http(|review| patching(review, &label("labels")));
    let chain = chain(&json!([{"name": "w", "url": controller.url, "phase": "mutating"}]));
    let others = json!({"operation": "DELETE", "oldObject": pod("app"), "object": null});
    let verdict = chain.decide(&mut request(&Value::Null, &others));
    assert!(message(&verdict).contains("not supported for this operation"));
}

#[test]
fn a_denial_has_the_words_of_an_api_server() {
    let explained = Controller::http(|review| no(review, "not this one"));
    let verdict = decide(&chain(
        &json!([{"name": "w.example.com", "url": explained.url}]),
    ));
    let denial = verdict.denial().unwrap();
    assert_eq!(
        denial.message,
        "admission webhook \"w.example.com\" denied the request: not this one"
    );
    assert_eq!((denial.code, denial.reason.as_ref()), (418, "Elsewhere"));
    assert_eq!(verdict.policy.as_deref(), Some("w.example.com"));
    let silent = Controller::http(|review| answered(review, json!({})));
    let verdict = decide(&chain(&json!([{"name": "w", "url": silent.url}])));
    let denial = verdict.denial().unwrap();
    assert_eq!(
        denial.message,
        "admission webhook \"w\" denied the request without explanation"
    );
    assert_eq!(denial.code, 400);
}

#[test]
fn warnings_and_audit_annotations_are_passed_on() {
    let controller = Controller::http(|review| {
        answered(
            review,
            json!({"allowed": true, "warnings": ["careful"],
            "auditAnnotations": {"risk": "low", "a/b": "dropped"}}),
        )
    });
    let verdict = decide(&chain(&json!([{"name": "w", "url": controller.url}])));
    assert_eq!(verdict.warnings, ["careful"]);
    let annotations: Vec<_> = verdict.annotations.iter().collect();
    assert_eq!(annotations, [(&"w.risk".to_owned(), &"low".to_owned())]);
}

#[test]
fn one_that_fails_hides_no_denial_and_is_asked_once() {
    let broken = Controller::http(|_| (503, "busy".to_owned()));
    let denying = Controller::http(|review| no(review, "never"));
    let failing = json!({"name": "broken", "url": broken.url});
    let verdict = decide(&chain(
        &json!([failing, {"name": "denying", "url": denying.url}]),
    ));
    assert!(message(&verdict).ends_with("denied the request: never"));
    assert_eq!(broken.seen().len(), 1);
    let alone = json!({"webhooks": [failing]});
    let verdict = decide(&testing::chain("Webhook", &alone, FailureMode::Closed));
    assert!(
        message(&verdict).contains("webhook \"broken\": "),
        "{}",
        message(&verdict)
    );
    assert!(message(&verdict).contains("status 503: busy"));
    let verdict = decide(&testing::chain("Webhook", &alone, FailureMode::Open));
    assert!(verdict.is_allowed());
    assert_eq!(verdict.annotations["failed-open"], "Webhook");
}

#[test]
fn one_that_may_fail_is_passed_over_alone() {
    let broken = Controller::http(|_| (200, "{}".to_owned()));
    let patching = Controller::http(|review| patching(review, &label("labels")));
    let chain = chain(&json!([
        {"name": "patching", "url": patching.url, "phase": "mutating"},
        {"name": "broken", "url": broken.url, "phase": "mutating", "failure": "open"},
    ]));
    let verdict = decide(&chain);
    assert!(verdict.is_allowed());
    assert_eq!(verdict.patch.len(), 1);
    assert_eq!(verdict.annotations["failed-open"], "Webhook: broken");
    assert_eq!(verdict.trace[0].outcome, StepOutcome::Changed);
}

#[test]
fn only_requests_that_match_are_sent() {
    let controller = Controller::http(yes);
    let webhook =
        json!({"name": "w", "url": controller.url, "match": {"kinds": ["apps/Deployment"]}});
    let verdict = decide(&chain(&json!([webhook])));
    assert!(verdict.is_allowed() && !verdict.anything_applied());
    assert!(controller.seen().is_empty());
}

#[test]
fn a_dry_run_is_not_sent_where_asking_has_side_effects() {
    let controller = Controller::http(yes);
    let webhook = json!({"name": "w", "url": controller.url, "sideEffects": true});
    let chain = chain(&json!([webhook]));
    let verdict = chain.decide(&mut request(&pod("app"), &json!({"dryRun": true})));
    assert_eq!(
        message(&verdict),
        "admission webhook \"w\" does not support dry run"
    );
    assert!(controller.seen().is_empty());
    assert!(decide(&chain).is_allowed());
}

#[test]
fn servers_that_misbehave_are_failures() {
    let pki = Pki::new();
    let folder = Folder::new();
    let ca = folder.path("ca.crt");
    std::fs::write(&ca, &pki.authority.certificate_pem).unwrap();
    let endless = Reply::with("200 OK", "", &vec![b' '; 100_000]);
    for (reply, words) in [
        (Reply::Hang, "no answer before the deadline"),
        (Reply::Raw(b"not HTTP\r\n\r\n".to_vec()), "request failed"),
        (Reply::Raw(Vec::new()), "request failed"),
        (
            Reply::Status(302, "Location: /\r\n", String::new()),
            "redirects are not followed",
        ),
        (endless, "the answer has more than 65536 bytes"),
        (Reply::Body("[".repeat(60_000)), "not an AdmissionReview"),
    ] {
        let server = Server::https(&pki.server, move |_| reply.clone());
        let chain = chain(
            &json!([{"name": "w", "url": server.url(), "caFile": ca, "timeout": "300ms",
            "maxAnswer": "64Ki"}]),
        );
        let verdict = decide(&chain);
        assert!(
            message(&verdict).contains(words),
            "{words}: {}",
            message(&verdict)
        );
        assert!(verdict.is_undecided());
        assert!(server.requests().len() <= 1);
    }
}

#[test]
fn the_deadline_of_the_request_counts() {
    let server = Server::http(|_| Reply::Hang);
    let chain = chain(&json!([{"name": "w", "url": server.url()}]));
    let mut late = request(&pod("app"), &json!({}));
    late.deadline = late.received.checked_add(Duration::from_millis(200));
    let verdict = chain.decide(&mut late);
    assert!(verdict.is_undecided());
    assert!(
        message(&verdict).contains("before the deadline"),
        "{}",
        message(&verdict)
    );
}
