//! Against real backends on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use portcullis_core::{Chain, FailureMode, Verdict};
use portcullis_testing::{Folder, Pki, Reply, Request, Server};
use serde_json::{Value, json};

use crate::outgoing::testing::{self, pod, request};

/// An answer with this status.
fn answered(status: &Value) -> Reply {
    Reply::json(
        &json!({"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "status": status}),
    )
}

/// Denies images whose name contains `bad`.
fn backend(request: &Request) -> Reply {
    let review = request.json();
    let images = review["spec"]["containers"].as_array().unwrap();
    let is_bad = |container: &Value| container["image"].as_str().unwrap().contains("bad");
    match images.iter().any(is_bad) {
        true => answered(&json!({"allowed": false, "reason": "bad image"})),
        false => answered(&json!({"allowed": true, "auditAnnotations": {"seen": "yes"}})),
    }
}

/// A plug-in that asks this server, with other keys.
fn asking(server: &Server, keys: &Value) -> Chain {
    let folder = Folder::new();
    let kubeconfig = folder.path("kubeconfig");
    let text = json!({
        "current-context": "c", "clusters": [{"name": "k", "cluster": {"server": format!("{}/review", server.url())}}],
        "contexts": [{"name": "c", "context": {"cluster": "k"}}],
    });
    std::fs::write(&kubeconfig, text.to_string()).unwrap();
    let mut spec = json!({"kubeConfigFile": kubeconfig, "retryBackoff": 1});
    for (key, value) in keys.as_object().unwrap() {
        spec[key] = value.clone();
    }
    let configuration = json!({"imagePolicy": spec});
    testing::chain("ImagePolicyWebhook", &configuration, FailureMode::Closed)
}

fn decide(chain: &Chain, image: &str) -> Verdict {
    chain.decide(&mut request(&pod(image), &json!({})))
}

fn message(verdict: &Verdict) -> &str {
    verdict.denial().map_or("", |denial| &denial.message)
}

#[test]
fn the_backend_decides() {
    let server = Server::http(backend);
    let chain = asking(&server, &json!({}));
    let verdict = decide(&chain, "good");
    assert!(verdict.is_allowed());
    assert_eq!(verdict.annotations["imagepolicywebhook.seen"], "yes");
    let verdict = decide(&chain, "bad");
    assert_eq!(
        message(&verdict),
        "pods \"web\" is forbidden: image policy webhook backend denied one or more images: bad image"
    );
    assert_eq!(verdict.denial().unwrap().code, 403);
    assert!(!verdict.is_undecided());
    let asked = server.requests()[0].json();
    assert_eq!(
        asked,
        json!({"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview",
            "spec": {"containers": [{"image": "good"}], "namespace": "shop"}})
    );
    let target = server.requests()[0].target().to_owned();
    assert!(target.starts_with("/review?timeout="), "{target}");
}

#[test]
fn answers_are_remembered_by_what_was_asked() {
    let server = Server::http(backend);
    let chain = asking(&server, &json!({"denyTTL": -1}));
    for _ in 0..3 {
        assert!(decide(&chain, "good").is_allowed());
    }
    assert_eq!(server.requests().len(), 1);
    for _ in 0..3 {
        assert!(!decide(&chain, "bad").is_allowed());
    }
    assert_eq!(server.requests().len(), 4);
    assert!(decide(&chain, "good:2").is_allowed());
    assert_eq!(server.requests().len(), 5);
}

#[test]
fn only_pods_and_their_ephemeral_containers() {
    let server = Server::http(backend);
    let chain = asking(&server, &json!({}));
    let status = json!({"operation": "UPDATE", "subResource": "status", "oldObject": pod("bad")});
    assert!(
        chain
            .decide(&mut request(&pod("bad"), &status))
            .is_allowed()
    );
    assert!(server.requests().is_empty());
    let mut debugged = pod("good");
    debugged["spec"]["ephemeralContainers"] = json!([{"name": "e", "image": "bad"}]);
    let ephemeral = json!({"operation": "UPDATE", "subResource": "ephemeralcontainers", "oldObject": pod("good")});
    assert!(
        !chain
            .decide(&mut request(&debugged, &ephemeral))
            .is_allowed()
    );
}

#[test]
fn a_passing_trouble_is_tried_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = Server::http(move |seen| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Status(500, "", String::new()),
        1 => Reply::Status(429, "", String::new()),
        _ => backend(seen),
    });
    assert!(decide(&asking(&server, &json!({})), "good").is_allowed());
    assert_eq!(count.load(Ordering::Relaxed), 3);
    let broken = Server::http(|_| Reply::Status(500, "", "oops".to_owned()));
    let verdict = decide(&asking(&broken, &json!({})), "good");
    assert_eq!(broken.requests().len(), 5);
    assert!(
        message(&verdict).contains("status 500: oops"),
        "{}",
        message(&verdict)
    );
    let refusing = Server::http(|_| Reply::Status(403, "", String::new()));
    assert!(!decide(&asking(&refusing, &json!({})), "good").is_allowed());
    assert_eq!(refusing.requests().len(), 1);
}

#[test]
fn without_an_answer_pods_are_denied_or_allowed_as_configured() {
    let broken = Server::http(|_| Reply::Body("not a review".to_owned()));
    let verdict = decide(&asking(&broken, &json!({})), "good");
    assert!(verdict.is_undecided());
    assert_eq!(verdict.denial().unwrap().code, 403);
    assert!(
        message(&verdict).starts_with("pods \"web\" is forbidden: "),
        "{}",
        message(&verdict)
    );
    let before = broken.requests().len();
    let mut asked = request(&pod("good"), &json!({}));
    let chain = asking(&broken, &json!({"defaultAllow": true}));
    let verdict = chain.decide(&mut asked);
    assert!(verdict.is_allowed());
    assert_eq!(
        verdict.annotations["imagepolicywebhook.failed-open"],
        "true"
    );
    assert_eq!(broken.requests().len(), before + 1);
    // Another webhook of the same request.
    assert!(chain.decide(&mut asked).is_allowed());
    assert_eq!(broken.requests().len(), before + 1);
}

#[test]
fn the_deadline_counts_also_between_attempts() {
    let broken = Server::http(|_| Reply::Status(500, "", String::new()));
    let chain = asking(&broken, &json!({"retryBackoff": 300_000}));
    let mut late = request(&pod("good"), &json!({}));
    late.deadline = late.received.checked_add(Duration::from_secs(10));
    assert!(!chain.decide(&mut late).is_allowed());
    assert_eq!(broken.requests().len(), 1);
}

#[test]
fn over_tls_with_what_the_kubeconfig_names() {
    let (pki, folder) = (Pki::new(), Folder::new());
    let server = Server::mutual(&pki.server, &pki.authority, backend);
    let write = |name: &str, text: &str| std::fs::write(folder.path(name), text).unwrap();
    write("ca.crt", &pki.authority.certificate_pem);
    write("tls.crt", &pki.client.certificate_pem);
    write("tls.key", &pki.client.key_pem);
    write("token", "t1");
    let kubeconfig = json!({
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": server.url(), "certificate-authority": "ca.crt"}}],
        "users": [{"name": "u", "user": {"client-certificate": "tls.crt", "client-key": "tls.key", "tokenFile": "token"}}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
    });
    write("kubeconfig", &kubeconfig.to_string());
    let configuration =
        json!({"imagePolicy": {"kubeConfigFile": folder.path("kubeconfig"), "allowTTL": -1}});
    let chain = testing::chain("ImagePolicyWebhook", &configuration, FailureMode::Closed);
    assert!(decide(&chain, "good").is_allowed());
    write("token", "t2");
    assert!(decide(&chain, "good").is_allowed());
    let tokens: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.token().map(str::to_owned))
        .collect();
    assert_eq!(tokens, [Some("t1".to_owned()), Some("t2".to_owned())]);
}
