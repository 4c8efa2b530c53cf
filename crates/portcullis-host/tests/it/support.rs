//! Helpers shared by tests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{HostFunction, clock};
use portcullis_host::{ExternalHost, ForwardRule, GoogleToken, HostSettings};
use portcullis_js::{Host, HostRequest, Input, Subject};
use portcullis_testing::Reply;
use serde_json::{Value, json};

/// The request behind a call, with a review of its own.
#[derive(Debug)]
pub(crate) struct Asked;

impl Subject for Asked {
    fn req(&self) -> Value {
        json!({})
    }

    fn ac(&self) -> Value {
        json!({})
    }

    fn review(&self, object: &Value) -> Option<Value> {
        Some(
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "u1", "name": "p1", "operation": "CREATE", "object": object}}),
        )
    }
}

/// Settings that reach nothing outside of this machine.
pub(crate) fn settings() -> HostSettings {
    HostSettings {
        cosign: "/nonexistent/cosign".into(),
        slsa_verifier: "/nonexistent/slsa-verifier".into(),
        github_raw: "http://127.0.0.1:1".to_owned(),
        container_analysis: "http://127.0.0.1:1".to_owned(),
        google_token: GoogleToken::None,
        ..HostSettings::default()
    }
}

/// A host that may forward to these.
pub(crate) fn forwarding(entries: &[&str]) -> ExternalHost {
    let entries = entries.iter().map(|e| (*e).to_owned()).collect();
    ExternalHost::new(HostSettings {
        forward_to: ForwardRule::Only(entries),
        ..settings()
    })
    .unwrap()
}

/// A moment that a test does not live to see.
pub(crate) fn later() -> Instant {
    clock::monotonic() + Duration::from_secs(120)
}

/// A moment soon.
pub(crate) fn soon(milliseconds: u64) -> Instant {
    clock::monotonic() + Duration::from_millis(milliseconds)
}

/// A pod of these images.
pub(crate) fn pod(images: &[&str]) -> Value {
    let containers: Vec<_> = images
        .iter()
        .map(|image| json!({"name": "c", "image": image}))
        .collect();
    json!({"kind": "Pod", "metadata": {"name": "p1"}, "spec": {"containers": containers}})
}

/// Calls a function about an object that no policy has changed.
pub(crate) fn call(
    host: &ExternalHost,
    function: HostFunction,
    arguments: &[Value],
    object: &Value,
) -> Result<Value, String> {
    call_until(host, function, arguments, object, later())
}

/// The same with a deadline.
pub(crate) fn call_until(
    host: &ExternalHost,
    function: HostFunction,
    arguments: &[Value],
    object: &Value,
    deadline: Instant,
) -> Result<Value, String> {
    let input = Input {
        subject: Arc::new(Asked),
        ..Input::new(object)
    };
    host.call(&HostRequest {
        function,
        arguments,
        object,
        original: &input.object,
        subject: input.subject.as_ref(),
        deadline,
    })
}

/// An AdmissionReview with this response.
pub(crate) fn review(response: &Value) -> Reply {
    let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Reply::json(&answer)
}
