//! What other servers answered to plug-ins.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_testing::controller::{Controller, answered, no, yes};
use portcullis_testing::{Reply, Server};
use serde_json::{Value, json};

use super::record::{Came, Setup, by_config, is_same, why};
use super::{create, pod};
use crate::replay::{ChangeKind, Outcome};

/// An allow with a sidecar, which has a secret.
fn injecting(review: &Value) -> (u16, String) {
    let sidecar =
        json!({"name": "side", "image": "side:1", "env": [{"name": "A", "value": "hidden-1"}]});
    let patch = json!([{"op": "add", "path": "/spec/containers/-", "value": sidecar}]);
    let patch = STANDARD.encode(patch.to_string());
    answered(
        review,
        json!({"allowed": true, "patch": patch, "patchType": "JSONPatch"}),
    )
}

fn labelling(review: &Value) -> (u16, String) {
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]);
    let patch = STANDARD.encode(patch.to_string());
    answered(
        review,
        json!({"allowed": true, "patch": patch, "patchType": "JSONPatch"}),
    )
}

fn setup(webhooks: &Value, more: &str) -> Setup {
    let plugins = json!([{"name": "Webhook", "configuration": {"webhooks": webhooks}}]);
    Setup::new(&format!("admission: {{plugins: {plugins}}}\n{more}"))
}

fn line(setup: &Setup) -> String {
    setup
        .gate()
        .line(&create(&pod("web", "app:1")), &Came::default())
}

#[test]
fn nothing_is_asked_again() {
    let (labelling, judging) = (Controller::http(labelling), Controller::http(yes));
    let setup = setup(
        &json!([{"name": "labelling", "url": labelling.url, "phase": "mutating"},
                {"name": "judging", "url": judging.url}]),
        "",
    );
    let recorded = line(&setup);
    assert!(recorded.contains("\"function\":\"webhook\""), "{recorded}");
    is_same(&by_config(&setup.file(), &recorded));
    assert_eq!((labelling.seen().len(), judging.seen().len()), (1, 1));
}

#[test]
fn denials_and_failures_are_repeated() {
    let denying = Controller::http(|review| no(review, "no"));
    let broken = Controller::http(|_| (500, String::new()));
    for url in [&denying.url, &broken.url] {
        let setup = setup(&json!([{"name": "w", "url": url}]), "");
        is_same(&by_config(&setup.file(), &line(&setup)));
    }
    // What failed then may be passed over now.
    let recorded = line(&setup(&json!([{"name": "w", "url": broken.url}]), ""));
    let open = setup(
        &json!([{"name": "w", "url": broken.url, "failure": "open"}]),
        "",
    );
    let Outcome::Changed(change) = by_config(&open.file(), &recorded) else {
        panic!()
    };
    assert_eq!(change.kind, ChangeKind::NewlyAllowed);
}

#[test]
fn what_was_not_asked_then_is_not_known() {
    let controller = Controller::http(yes);
    let webhook = json!({"name": "w", "url": controller.url});
    let recorded = line(&setup(&json!([webhook]), ""));
    let other = setup(
        &json!([webhook, {"name": "new", "url": controller.url}]),
        "",
    );
    let outcome = by_config(&other.file(), &recorded);
    assert_eq!(
        why(&outcome),
        "Webhook: new was not asked when it was recorded"
    );
    // A policy before it changes the object now.
    let policy =
        "policies: [{name: p, code: 'object.metadata.labels = {c: \"d\"}; return true'}]\n";
    let plugins = json!([{"name": "Policies"}, {"name": "Webhook", "configuration": {"webhooks": [webhook]}}]);
    let before = Setup::new(&format!("admission: {{plugins: {plugins}}}\n{policy}"));
    let outcome = by_config(&before.file(), &recorded);
    assert_eq!(why(&outcome), "Webhook: w would be asked something else");
    assert_eq!(controller.seen().len(), 1);
}

#[test]
fn secrets_in_patches_are_masked() {
    let controller = Controller::http(injecting);
    let webhook = json!({"name": "w", "url": controller.url, "phase": "mutating"});
    let setup = setup(&json!([webhook]), "");
    let recorded = line(&setup);
    assert!(!recorded.contains("hidden-1"), "{recorded}");
    assert!(recorded.contains("side:1"), "{recorded}");
    let outcome = by_config(&setup.file(), &recorded);
    assert_eq!(why(&outcome), "Webhook: what w answered is masked");
}

#[test]
fn image_reviews_are_answered_by_what_was_asked() {
    let server = Server::http(|_| {
        Reply::json(
            &json!({"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview",
            "status": {"allowed": false, "reason": "no"}}),
        )
    });
    let kubeconfig = json!({"current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": server.url()}}],
        "contexts": [{"name": "c", "context": {"cluster": "k"}}]});
    let plugins = json!([{"name": "ImagePolicyWebhook",
        "configuration": {"imagePolicy": {"kubeConfigFile": "kubeconfig.json"}}}]);
    let setup = Setup::new(&format!("admission: {{plugins: {plugins}}}\n"))
        .with("kubeconfig.json", &kubeconfig.to_string());
    let recorded = line(&setup);
    is_same(&by_config(&setup.file(), &recorded));
    assert_eq!(server.requests().len(), 1);
}
