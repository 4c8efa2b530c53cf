//! Records of CI jobs, whose body is the job itself.

use std::sync::Arc;

use portcullis_core::{Attributes, CI_GROUP, CI_JOB, Document, Door, DoorContext, Kind, json};
use portcullis_record::{Decided, Decision, Masker};
use serde_json::{Value, json};

use crate::fixtures::{allowed, attributes, material};

fn job() -> Value {
    json!({
        "apiVersion": format!("{CI_GROUP}/v1"), "kind": CI_JOB,
        "metadata": {"name": "build"}, "project": "shop/web",
        "variables": [{"key": "WORD", "value": "hunter22"}],
        "script": ["echo hunter22", "make"],
        "internal": {"note": "only-for-us"},
    })
}

fn read(masker: &Masker, job: &Value) -> Decision {
    let body = job.to_string();
    let scanned = json::scan(body.as_bytes()).unwrap();
    let request = Attributes {
        door: Door::Ci,
        kind: Kind {
            group: CI_GROUP.into(),
            version: "v1".into(),
            kind: CI_JOB.into(),
        },
        object: Some(Document::from_scanned(&scanned, &body)),
        context: Arc::new(DoorContext::default()),
        ..attributes("{}", DoorContext::default())
    };
    let mut material = material(&body, request, allowed());
    if let Decided::Admission(decided) = &mut material.decided {
        decided.webhook = None;
    }
    let written = masker.write(&material).unwrap();
    Decision::from_line(&written.line).unwrap()
}

#[test]
fn variables_and_configured_places_are_masked_and_the_name_is_found() {
    let masker = Masker::new(&["$.internal.note".to_owned()]).unwrap();
    let decision = read(&masker, &job());
    assert_eq!(decision.summary.door, Door::Ci);
    assert_eq!(decision.input.webhook, None);
    assert_eq!(decision.summary.name, "build");
    assert_eq!(decision.summary.kind, CI_JOB);
    assert_eq!(
        decision.input.masked,
        ["/review/internal/note", "/review/variables/0/value"]
    );
    let kept: Value = serde_json::from_str(decision.input.review_text()).unwrap();
    assert_eq!(kept["variables"][0]["value"], "(masked)");
    assert_eq!(kept["internal"]["note"], "(masked)");
    assert_eq!(kept["project"], "shop/web");
}

#[test]
fn a_secret_that_is_also_the_type_leaves_the_job_readable() {
    let mut job = job();
    let version = job["apiVersion"].clone();
    job["password"] = version.clone();
    job["project"] = version.clone();
    let decision = read(&Masker::default(), &job);
    let kept: Value = serde_json::from_str(decision.input.review_text()).unwrap();
    assert_eq!(kept["apiVersion"], version);
    assert_eq!(kept["project"], "(masked)");
}

#[test]
fn of_a_large_job_the_large_members_are_left_out() {
    let mut job = job();
    job["script"] = json!("x".repeat(10_000));
    let decision = read(&Masker::default().with_max_input(4096), &job);
    assert_eq!(decision.input.truncated, ["/review/script"]);
    assert_eq!(decision.summary.name, "build");
}

#[test]
fn variables_that_say_which_job_it_is_are_kept() {
    let job = json!({
        "apiVersion": format!("{CI_GROUP}/v1"), "kind": CI_JOB,
        "metadata": {"name": "build"}, "project": "shop/web",
        "variables": {"CI_PROJECT_NAMESPACE": "shop", "CI_JOB_ID": 7, "CI_DEPLOY_PASSWORD": "hunter22"},
    });
    let decision = read(&Masker::default(), &job);
    assert_eq!(
        decision.input.masked,
        ["/review/variables/CI_DEPLOY_PASSWORD"]
    );
}
