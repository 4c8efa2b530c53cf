//! Pipelines, retries, and failures that are allowed.

use portcullis_ci::PipelineDetails;
use portcullis_document::Duration;
use portcullis_jobs::{FailureReason, JobStatus, PipelineStatus, RetryPolicy};
use portcullis_testing::{PATIENCE, Reply};
use serde_json::{Value, json};

use crate::bench::{Bench, answers, id_of, pause, status, words};

async fn when(bench: &Bench, id: u64, is_so: impl Fn(&PipelineDetails) -> bool) -> PipelineDetails {
    let mut last = None;
    for _ in 0..PATIENCE.as_millis() / 10 {
        let pipeline = bench.service.pipeline(id).await.unwrap();
        if is_so(&pipeline) {
            return pipeline;
        }
        last = Some(pipeline);
        pause().await;
    }
    panic!("never happened: {last:?}");
}

fn statuses(pipeline: &PipelineDetails) -> Vec<JobStatus> {
    pipeline.jobs.iter().map(|job| job.status).collect()
}

fn jobs(allow_failure: &Value) -> Value {
    json!([
        {"name": "first", "stage": "build", "script": ["true"], "tags": ["linux"],
            "allow_failure": allow_failure},
        {"name": "second", "stage": "test", "script": ["true"]},
    ])
}

/// Denies the first job of a pipeline.
fn denies_first(bench: &Bench) {
    bench.hook.answer(|request| {
        let is_first = request.json()[0]["variables"]["CI_JOB_NAME"] == "first";
        let word = if is_first { "denied" } else { "accepted" };
        Reply::json(&json!([{"id": id_of(request), "admission": word}]))
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denial_skips_the_later_stages_unless_it_is_allowed() {
    // Cases 34 and 37.
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    denies_first(&bench);
    let id = bench.submit_pipeline(jobs(&json!(false))).await;
    let pipeline = when(&bench, id, |p| p.status == PipelineStatus::Failed).await;
    assert_eq!(statuses(&pipeline), [JobStatus::Failed, JobStatus::Skipped]);
    assert!(pipeline.finished_at.is_some());
    for allowed in [json!({"on_denied_admission": true}), json!(true)] {
        let id = bench.submit_pipeline(jobs(&allowed)).await;
        let is_next = |p: &PipelineDetails| p.jobs[1].status == JobStatus::Pending;
        let pipeline = when(&bench, id, is_next).await;
        assert_eq!(pipeline.status, PipelineStatus::Running);
        assert!(pipeline.jobs[0].allowed_to_fail);
        let first = bench.service.job(pipeline.jobs[0].id).await.unwrap();
        assert_eq!(first.failure_reason, Some(FailureReason::AdmissionDenied));
        assert!(first.allowed_to_fail);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_is_a_denial() {
    // Case 35.
    let bench = Bench::with(|settings| settings.deadline = Duration::from_millis(1200)).await;
    let conditions = json!({"match": {"tags": ["linux"]}});
    bench.controller(conditions).await;
    bench.hook.answer(status(202));
    let id = bench
        .submit_pipeline(jobs(&json!({"on_denied_admission": true})))
        .await;
    let is_next = |p: &PipelineDetails| p.jobs[1].status == JobStatus::Pending;
    let pipeline = when(&bench, id, is_next).await;
    let first = bench.service.job(pipeline.jobs[0].id).await.unwrap();
    assert_eq!(first.failure_reason, Some(FailureReason::AdmissionTimeout));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retrying_a_failed_job_revives_those_after_it() {
    // Case 38.
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    denies_first(&bench);
    let id = bench.submit_pipeline(jobs(&json!(false))).await;
    let failed = when(&bench, id, |p| p.status == PipelineStatus::Failed).await;
    bench.hook.answer(answers(json!({})));
    bench.service.retry(failed.jobs[0].id).await.unwrap();
    let is_queued = |p: &PipelineDetails| p.jobs[0].status == JobStatus::Pending;
    let pipeline = when(&bench, id, is_queued).await;
    assert_eq!(
        statuses(&pipeline),
        [JobStatus::Pending, JobStatus::Created]
    );
    assert_eq!(pipeline.status, PipelineStatus::Running);
    assert_eq!(pipeline.finished_at, None);
    // The next stage doesn't start after a job that is canceled.
    bench.service.cancel(pipeline.jobs[0].id).await.unwrap();
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(
        statuses(&pipeline),
        [JobStatus::Canceled, JobStatus::Skipped]
    );
    assert_eq!(pipeline.status, PipelineStatus::Canceled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_later_stages_wait() {
    let bench = Bench::new().await;
    let id = bench.submit_pipeline(jobs(&json!(false))).await;
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(
        statuses(&pipeline),
        [JobStatus::Pending, JobStatus::Created]
    );
    assert_eq!(pipeline.status, PipelineStatus::Running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retried_job_keeps_its_tags_or_not() {
    // Cases 39 and 40.
    for (policy, tags) in [
        (RetryPolicy::Carry, json!(["linux", "us-west"])),
        (RetryPolicy::Reset, json!(["linux"])),
    ] {
        let bench = Bench::with(|settings| settings.retry = policy).await;
        bench.controller(json!({})).await;
        bench
            .hook
            .answer(answers(json!({"tags": {"add": ["us-west"]}})));
        let job = bench.submit(json!({})).await.id;
        assert_eq!(bench.settled(job).await.tags, words("linux us-west"));
        bench.service.cancel(job).await.unwrap();
        bench.hook.answer(answers(json!({})));
        bench.service.retry(job).await.unwrap();
        let retried = bench.settled(job).await;
        assert_eq!(retried.attempt, 2);
        let entry = &bench.entries()[1];
        assert_eq!(entry["tags"], tags);
        assert_eq!(entry["original_tags"], json!(["linux"]));
        assert_eq!(json!(retried.tags), tags);
        bench.finished(2).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_no_runner_can_take_fails_after_a_while() {
    let bench = Bench::with(|s| s.runners.stuck = Duration::from_millis(300)).await;
    bench.runners().await;
    let fine = bench.submit(json!({})).await;
    let stuck = bench.submit(json!({"tags": ["unknown"]})).await;
    assert_eq!(stuck.status, JobStatus::Pending);
    let is_failed = |job: &portcullis_ci::JobDetails| job.status == JobStatus::Failed;
    let stuck = bench.job_when(stuck.id, "it is stuck", is_failed).await;
    let reason = FailureReason::StuckOrTimeoutFailure;
    assert_eq!(stuck.failure_reason, Some(reason));
    let fine = bench.service.job(fine.id).await.unwrap();
    assert_eq!(fine.status, JobStatus::Pending);
}
