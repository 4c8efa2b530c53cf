//! Prints what records cost: `cargo run --release -p portcullis-record --example masking_cost`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool for people at a terminal"
)]

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::{self, Stopwatch};
use portcullis_core::json as strict;
use portcullis_core::{
    Attributes, Decision, DecisionId, Denial, Document, Door, DoorContext, Kind, Operation, Phase,
    PolicyMode, PolicyOutcome, PolicyStep, Step, StepOutcome, UserInfo, Verdict,
};
use portcullis_record::{Admission, Body, Decided, Masker, Material, Webhook, WebhookName};
use serde_json::{Value, json};

/// How often each is done in one go, and how many goes there are: the best counts.
const TIMES: u32 = 100;
const GOES: usize = 400;

fn main() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benches/fixtures/pod.json"
    );
    let mut pod: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    add_environment(&mut pod);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
        "data": (0..20).map(|i| (format!("key{i}"), json!("c2VjcmV0IHZhbHVlIG51bWJlciBvbmU="))).collect::<serde_json::Map<_, _>>()});
    let configured = Masker::new(&["$.spec.password".into()]).unwrap();
    let masker = Masker::new(&[]).unwrap();
    let only = std::env::args().nth(1).unwrap_or_default();
    for (what, masker, object, is_allowed) in [
        ("pod, allowed", &masker, &pod, true),
        ("pod, refused with a message", &masker, &pod, false),
        ("pod, allowed, one configured path", &configured, &pod, true),
        ("Secret of 20 keys, refused", &masker, &secret, false),
    ] {
        if !what.starts_with(&only) {
            continue;
        }
        let material = material(object, is_allowed);
        let written = masker.write(&material).unwrap();
        let mut best = Duration::MAX;
        for _ in 0..GOES {
            let watch = Stopwatch::start();
            for _ in 0..TIMES {
                std::hint::black_box(masker.write(std::hint::black_box(&material)).unwrap());
            }
            best = best.min(watch.elapsed() / TIMES);
        }
        println!(
            "{what:36} {:6} bytes of body, {:6} bytes of line, {:4} masked {best:10.2?}",
            material.body.0.as_ref().as_ref().len(),
            written.line.len(),
            written.line.matches("(masked)").count(),
        );
    }
}

fn add_environment(pod: &mut Value) {
    let containers = pod.pointer_mut("/spec/containers").unwrap();
    for container in containers.as_array_mut().unwrap() {
        let env: Vec<Value> = (0..5)
            .map(|i| json!({"name": format!("SETTING_{i}"), "value": format!("some value {i}")}))
            .collect();
        container
            .as_object_mut()
            .unwrap()
            .insert("env".into(), Value::Array(env));
    }
}

fn material(object: &Value, is_allowed: bool) -> Material {
    let kind = object.get("kind").unwrap();
    let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "", "version": "v1", "kind": kind}, "operation": "CREATE", "namespace": "shop",
        "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller", "groups": ["system:serviceaccounts"]},
        "object": object, "oldObject": null, "options": {}, "dryRun": false}})
    .to_string();
    let scanned = strict::scan(body.as_bytes()).unwrap();
    let mut members = scanned.members_of("request");
    let (_, part) = members.find(|(key, _)| *key == "object").unwrap();
    let headers = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("user-agent", "kube-apiserver-admission"),
        ("accept", "application/json"),
        ("traceparent", "00-1-2-01"),
    ];
    let attributes = Attributes {
        door: Door::Kubernetes,
        uid: "705ab4f5".into(),
        operation: Operation::Create,
        kind: Kind {
            group: String::new(),
            version: "v1".into(),
            kind: kind.as_str().unwrap().into(),
        },
        resource: Default::default(),
        subresource: String::new(),
        name: String::new(),
        namespace: "shop".into(),
        user: UserInfo {
            username: "system:serviceaccount:kube-system:replicaset-controller".into(),
            ..UserInfo::default()
        },
        object: Some(Document::from_scanned(&scanned, part)),
        old_object: None,
        options: None,
        dry_run: false,
        received: clock::monotonic(),
        deadline: None,
        context: Arc::new(DoorContext {
            method: "POST".into(),
            uri: "/mutate?timeout=10s".into(),
            headers: headers.map(|(n, v)| (n.into(), v.into())).to_vec(),
            ..DoorContext::default()
        }),
    };
    Material {
        index: Some(scanned.index().clone()),
        body: Body(Arc::new(body.clone().into_bytes())),
        received: clock::wall(),
        gate: "sha256:0123456789abcdef0123456789abcdef".into(),
        traceparent: None,
        decided: Decided::Admission(Box::new(Admission {
            attributes,
            verdict: verdict(is_allowed),
            webhook: Some(Webhook {
                name: WebhookName::Mutate.into(),
                may_patch: true,
                refuses_pending: false,
            }),
            digest: None,
        })),
    }
}

fn verdict(is_allowed: bool) -> Verdict {
    let message = "images: image docker.io/library/nginx:latest is not from our registry";
    let policy = |name: &str, outcome, message: Option<&str>| PolicyStep {
        started: None,
        duration: None,
        name: name.into(),
        changed: false,
        mode: PolicyMode::Enforce,
        outcome,
        message: message.map(str::to_owned),
        source: None,
        line: None,
        column: None,
        limit: None,
        description: None,
        category: None,
        severity: None,
        link: None,
    };
    let second = match is_allowed {
        true => policy("images", PolicyOutcome::Pass, None),
        false => policy("images", PolicyOutcome::Deny, Some(message)),
    };
    Verdict {
        id: DecisionId::new(clock::wall()),
        decision: match is_allowed {
            true => Decision::Allow,
            false => Decision::Deny(Denial::forbidden(message)),
        },
        plugin: (!is_allowed).then(|| "Policies".into()),
        policy: (!is_allowed).then(|| "images".into()),
        warnings: Vec::new(),
        annotations: Default::default(),
        patch: Vec::new(),
        trace: vec![Step {
            plugin: "Policies".into(),
            phase: Phase::Admit,
            outcome: match is_allowed {
                true => StepOutcome::Passed,
                false => StepOutcome::Denied,
            },
            detail: (!is_allowed).then(|| message.to_owned().into()),
            failed_open: false,
            warnings: 0,
            policies: vec![policy("labels", PolicyOutcome::Pass, None), second],
            host_calls: Vec::new(),
            patch: Vec::new(),
            duration: Duration::from_micros(40),
        }],
        duration: Duration::from_micros(55),
    }
}
