//! Reviews, verdicts and their records.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_core::json;
use portcullis_core::{
    Attributes, Decision as Outcome, DecisionId, Denial, Document, Door, DoorContext, Kind,
    Operation, Phase, Step, StepOutcome, UserInfo, Verdict, clock,
};
use portcullis_record::{
    Admission, Body, Decided, Decision, Masker, Material, Webhook, WebhookName, Written,
};
use serde_json::{Value, json};

pub(crate) fn masker() -> Masker {
    Masker::new(&[]).unwrap()
}

/// A review of an object that is created.
pub(crate) fn creation(object: &Value) -> Value {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion")
        .split_once('/')
        .unwrap_or(("", text("apiVersion")));
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "0b7f",
            "kind": {"group": group, "version": version, "kind": text("kind")},
            "operation": "CREATE",
            "name": object["metadata"]["name"].as_str().unwrap_or_default(),
            "namespace": "shop",
            "userInfo": {"username": "ci-bot", "groups": ["ci"]},
            "object": object,
        }
    })
}

/// What a door would make of a review.
pub(crate) fn attributes(body: &str, context: DoorContext) -> Attributes {
    let scanned = json::scan(body.as_bytes()).unwrap();
    let review: Value = serde_json::from_str(body).unwrap();
    let request = &review["request"];
    let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
    let document = |key: &str| {
        let mut members = scanned.members_of("request");
        let (_, part) = members.find(|(own, _)| *own == key)?;
        part.starts_with('{')
            .then(|| Document::from_scanned(&scanned, part))
    };
    let kind: Kind = serde_json::from_value(request["kind"].clone()).unwrap_or_default();
    let user: UserInfo = serde_json::from_value(request["userInfo"].clone()).unwrap_or_default();
    Attributes {
        door: Door::Kubernetes,
        uid: text("uid"),
        operation: text("operation").parse().unwrap_or(Operation::Create),
        kind,
        resource: Default::default(),
        subresource: String::new(),
        name: text("name"),
        namespace: text("namespace"),
        user,
        object: document("object"),
        old_object: document("oldObject"),
        options: document("options"),
        dry_run: false,
        received: clock::monotonic(),
        deadline: None,
        context: Arc::new(context),
    }
}

pub(crate) fn allowed() -> Verdict {
    Verdict {
        id: DecisionId::new(SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123)),
        decision: Outcome::Allow,
        plugin: None,
        policy: None,
        warnings: Vec::new(),
        annotations: Default::default(),
        patch: Vec::new(),
        trace: vec![step("Policies", StepOutcome::Passed)],
        duration: Duration::from_micros(42),
    }
}

pub(crate) fn denied(message: &str) -> Verdict {
    Verdict {
        decision: Outcome::Deny(Denial::forbidden(message)),
        plugin: Some("Policies".into()),
        policy: Some("no".into()),
        ..allowed()
    }
}

pub(crate) fn step(plugin: &str, outcome: StepOutcome) -> Step {
    Step {
        plugin: plugin.into(),
        phase: Phase::Admit,
        outcome,
        detail: None,
        failed_open: false,
        warnings: 0,
        policies: Vec::new(),
        host_calls: Vec::new(),
        patch: Vec::new(),
        duration: Duration::from_micros(7),
    }
}

pub(crate) fn material(body: &str, attributes: Attributes, verdict: Verdict) -> Material {
    Material {
        body: Body(Arc::new(body.as_bytes().to_vec())),
        index: json::scan(body.as_bytes()).ok().map(|s| s.index().clone()),
        received: SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_120),
        gate: "sha256:gate".into(),
        traceparent: None,
        decided: Decided::Admission(Box::new(Admission {
            attributes,
            verdict,
            webhook: Some(Webhook {
                name: WebhookName::Mutate.into(),
                may_patch: true,
                refuses_pending: false,
            }),
            digest: None,
        })),
    }
}

/// The record of a review that was judged so.
pub(crate) fn written(masker: &Masker, review: &Value, verdict: Verdict) -> Written {
    let body = review.to_string();
    let attributes = attributes(&body, DoorContext::default());
    masker.write(&material(&body, attributes, verdict)).unwrap()
}

/// The same, read back.
pub(crate) fn read(masker: &Masker, review: &Value, verdict: Verdict) -> Decision {
    Decision::from_line(&written(masker, review, verdict).line).unwrap()
}

/// An object as it is kept.
#[expect(
    clippy::needless_pass_by_value,
    reason = "reads better where it is called"
)]
pub(crate) fn kept(object: Value) -> Value {
    let decision = read(&masker(), &creation(&object), allowed());
    let mut review: Value = serde_json::from_str(decision.input.review_text()).unwrap();
    review["request"]["object"].take()
}
