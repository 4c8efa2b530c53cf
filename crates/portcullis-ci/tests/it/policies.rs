//! Policies that are controllers, and those for all jobs.

use portcullis_ci::{JobFilter, PageRequest, PolicyChoice};
use portcullis_jobs::{
    ControllerDefinition, DecisionVerdict, ExemptionBody, FailureReason, JobStatus, Timestamp,
    read_job,
};
use serde_json::json;

use crate::bench::{Bench, job, words};
use crate::judge::{accepted, denied, is_door};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_are_evaluated_before_the_call_returns() {
    let bench = Bench::new().await;
    bench.runners().await;
    let keys = json!({"name": "named", "policy": "known", "level": "project", "path": "g/p"});
    bench.controller(keys).await;
    let keys = json!({"name": "own", "policy": {"code": "return 'no'"}});
    bench.controller(keys).await;
    bench.judge.have_ci_policies();
    bench.judge.answer(|question| {
        let mut object = question.object.clone();
        match &question.policies {
            PolicyChoice::Named(name) => {
                assert_eq!(name, "known");
                object["tags"] = json!(["linux", "us-west"]);
            }
            PolicyChoice::Code { code, .. } => {
                assert_eq!(code, "return 'no'");
                object["runners"] = json!({"accepted_ids": ["2", "6"]});
            }
            PolicyChoice::Door => {}
        }
        accepted(object)
    });
    let job = bench.submit(json!({})).await;
    assert_eq!(job.status, JobStatus::Pending);
    assert_eq!(job.tags, words("linux us-west"));
    assert_eq!(job.eligible_runners, [2]);
    let asked = bench.judge.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].object["kind"], "Job");
    assert_eq!(asked[0].object["metadata"]["namespace"], "g/p");
    assert_eq!(asked[2].policies, PolicyChoice::Door);
    assert_eq!(asked[2].object["tags"], json!(["linux", "us-west"]));
    let finished = bench.finished(1).await;
    assert_eq!(
        finished[0].changed_object["runners"]["accepted_ids"],
        json!(["2", "6"])
    );
    let names: Vec<_> = finished[0]
        .decisions
        .iter()
        .map(|d| d.controller.as_str())
        .collect();
    assert_eq!(names, ["named", "own", "policies"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_denies_or_fails() {
    let bench = Bench::new().await;
    bench.judge.have_ci_policies();
    bench.judge.answer(|_| denied("no-friday", "not today"));
    let job = bench.submit(json!({})).await;
    assert_eq!(job.failure_reason, Some(FailureReason::AdmissionDenied));
    assert_eq!(
        job.admission.unwrap().reason.unwrap(),
        "policies: not today"
    );
    let now = Timestamp::from(portcullis_core::clock::wall());
    let until = now.after(std::time::Duration::from_secs(600));
    let body = json!({"policy": "no-friday", "reason": "release", "until": until});
    let body = ExemptionBody::read(&body, now).unwrap();
    bench.service.add_exemption(body, "ada").await.unwrap();
    assert_eq!(bench.submit(json!({})).await.status, JobStatus::Pending);
    bench.judge.answer(|_| Err("deadline of 2s".to_owned()));
    let job = bench.submit(json!({})).await;
    assert_eq!(job.failure_reason, Some(FailureReason::AdmissionDenied));
    assert!(
        job.admission
            .unwrap()
            .reason
            .unwrap()
            .contains("deadline of 2s")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_policy_follows_the_failure_policy_of_its_controller() {
    let bench = Bench::new().await;
    let keys = json!({"policy": "known", "failure_policy": "open"});
    let id = bench.controller(keys).await.controller.id;
    bench.judge.answer(|_| Err("memory".to_owned()));
    let job = bench.submit(json!({})).await;
    assert_eq!(job.status, JobStatus::Pending);
    assert_eq!(
        job.admission.unwrap().decisions[0].verdict,
        DecisionVerdict::Error
    );
    let closed = json!({"failure_policy": "closed"});
    bench.service.change_controller(id, closed).await.unwrap();
    let job = bench.submit(json!({})).await;
    assert_eq!(job.failure_reason, Some(FailureReason::AdmissionDenied));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_breaks_the_job_fails() {
    let bench = Bench::new().await;
    bench.controller(json!({"policy": "known"})).await;
    for tags in [json!("linux"), json!([7]), json!([])] {
        bench.judge.answer(move |question| {
            let mut object = question.object.clone();
            object["tags"] = tags.clone();
            accepted(object)
        });
        let job = bench.submit(json!({})).await;
        assert_eq!(job.failure_reason, Some(FailureReason::AdmissionDenied));
        assert_eq!(job.tags, words("linux"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_and_webhooks_mix() {
    let bench = Bench::new().await;
    let keys = json!({"name": "P", "policy": "known", "level": "project", "path": "g/p"});
    bench.controller(keys).await;
    bench.controller(json!({})).await;
    bench.judge.have_ci_policies();
    bench.judge.answer(|question| {
        let mut object = question.object.clone();
        let tag = if is_door(question) { "last" } else { "first" };
        object["tags"].as_array_mut().unwrap().push(json!(tag));
        accepted(object)
    });
    let job = bench.submit(json!({})).await;
    let job = bench.settled(job.id).await;
    assert_eq!(job.tags, words("linux first last"));
    assert_eq!(bench.entries()[0]["tags"], json!(["linux", "first"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_record_is_required_and_fails_is_not_admitted() {
    let bench = Bench::new().await;
    bench.judge.have_ci_policies();
    bench.memory.fail(true);
    let definition = read_job(&job(&json!({}))).unwrap();
    let error = bench.service.submit_job(definition).await.unwrap_err();
    assert!(
        error.to_string().contains("could not be recorded"),
        "{error}"
    );
    let all = bench
        .service
        .jobs(JobFilter::default(), PageRequest::default());
    assert_eq!(all.await.unwrap().items.len(), 0);
    bench.memory.fail(false);
    let job = bench.submit(json!({})).await;
    assert_eq!(job.status, JobStatus::Pending);
    bench.finished(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_surrounds_a_job_may_change_while_its_policies_are_evaluated() {
    let bench = Bench::new().await;
    bench.judge.have_ci_policies();
    bench.submit(json!({})).await;
    let (other, _) = bench.another().await;
    // This server knows nothing of the controller that another one has got.
    let keys = json!({"name": "late", "level": "instance", "kind": "both", "policy": "known"});
    let definition = ControllerDefinition::read(&keys).unwrap();
    other.add_controller(definition).await.unwrap();
    let job = bench.submit(json!({})).await;
    let admission = job.admission.unwrap();
    let names: Vec<_> = admission
        .decisions
        .iter()
        .map(|decision| decision.controller.as_str())
        .collect();
    assert_eq!(names, ["late", "policies"]);
}
