//! Runners that have jobs: they begin, report, fall silent, and are told when to stop.

use portcullis_ci::{
    CiError, JobReport, JobRequest, NewRunner, ReportOutcome, ReportedState, RunnerContact,
    RunningJob, TraceOutcome,
};
use portcullis_document::Duration;
use portcullis_jobs::{AccessLevel, FailureReason, JobId, JobStatus, Runner, RunnerType};
use serde_json::{Value, json};

use crate::bench::{Bench, words};
use crate::servers::on_both;

on_both! {
    a_job_runs_to_its_end_and_reports_may_be_repeated,
    only_the_token_of_the_run_counts,
    a_canceled_job_tells_its_runner,
    a_runner_that_does_not_begin_loses_the_job_to_another,
    a_runner_that_falls_silent_loses_the_job_for_good,
    a_failed_job_keeps_its_reason_and_exit_code,
    jobs_know_the_number_of_their_project,
}

/// Silence is noticed quickly only in jobs that have not begun.
pub(crate) fn short(settings: &mut portcullis_ci::Settings) {
    settings.runners.lease = Duration::from_secs(1);
}

/// A job that a runner was given.
pub(crate) struct Taken {
    pub(crate) id: JobId,
    pub(crate) token: String,
    pub(crate) payload: Value,
}

pub(crate) async fn instance_runner(bench: &Bench) -> Runner {
    let new = NewRunner {
        kind: RunnerType::Instance,
        path: None,
        description: "one".to_owned(),
        tags: words("linux"),
        run_untagged: true,
        access_level: AccessLevel::NotProtected,
        paused: false,
        locked: false,
    };
    bench.service.add_runner(new).await.unwrap().runner
}

/// What a runner gets that asks for a job.
pub(crate) async fn ask(bench: &Bench, runner: &Runner) -> Option<Taken> {
    let contact = RunnerContact::default();
    let given = bench.service.request_job(runner.clone(), contact, None);
    let JobRequest::Given(taken) = given.await.unwrap() else {
        return None;
    };
    let payload = bench.service.runner_payload(&taken).await.unwrap();
    let payload: Value = serde_json::from_slice(&payload).unwrap();
    Some(Taken {
        id: taken.job,
        token: payload["token"].as_str().unwrap().to_owned(),
        payload,
    })
}

/// A job that a new runner has, and has not begun.
pub(crate) async fn taken(bench: &Bench, keys: Value) -> Taken {
    let runner = instance_runner(bench).await;
    let job = bench.submit(keys).await;
    bench.settled(job.id).await;
    let taken = ask(bench, &runner).await.unwrap();
    assert_eq!(taken.id, job.id);
    taken
}

pub(crate) fn report(state: ReportedState) -> JobReport {
    JobReport {
        state,
        failure_reason: None,
        exit_code: None,
        checksum: None,
        bytesize: None,
    }
}

pub(crate) async fn update(
    bench: &Bench,
    taken: &Taken,
    report: JobReport,
) -> Result<ReportOutcome, CiError> {
    bench
        .service
        .update_job(taken.id, &taken.token, report)
        .await
}

pub(crate) async fn authenticated(bench: &Bench, taken: &Taken) -> Result<RunningJob, CiError> {
    bench.service.running_job(taken.id, &taken.token).await
}

pub(crate) async fn append(
    bench: &Bench,
    taken: &Taken,
    start: u64,
    content: &[u8],
) -> Result<TraceOutcome, CiError> {
    let running = authenticated(bench, taken).await?;
    let content = bytes::Bytes::copy_from_slice(content);
    bench.service.append_trace(running, start, content).await
}

#[track_caller]
fn is_stopped<T: std::fmt::Debug>(result: &Result<T, CiError>, wanted: Option<JobStatus>) {
    let is_it = matches!(result, Err(CiError::JobToken(status)) if *status == wanted);
    assert!(is_it, "{result:?}");
}

async fn a_job_runs_to_its_end_and_reports_may_be_repeated(bench: Bench) {
    let taken = taken(&bench, json!({})).await;
    let job = bench.service.job(taken.id).await.unwrap();
    assert_eq!(job.status, JobStatus::Running);
    // Runners that start in two phases say that they are there, then that they begin.
    for state in [
        ReportedState::Pending,
        ReportedState::Running,
        ReportedState::Running,
    ] {
        let outcome = update(&bench, &taken, report(state)).await.unwrap();
        assert_eq!(outcome, ReportOutcome::Counts(JobStatus::Running));
    }
    for _ in 0..2 {
        let outcome = update(&bench, &taken, report(ReportedState::Success)).await;
        assert_eq!(outcome.unwrap(), ReportOutcome::Counts(JobStatus::Success));
    }
    let other = update(&bench, &taken, report(ReportedState::Failed)).await;
    is_stopped(&other, Some(JobStatus::Success));
    assert_eq!(
        bench.service.job(taken.id).await.unwrap().status,
        JobStatus::Success
    );
}

async fn only_the_token_of_the_run_counts(bench: Bench) {
    // Case 55.
    let mine = taken(&bench, json!({})).await;
    let other = taken(&bench, json!({})).await;
    for token in [other.token.as_str(), "glcbt-nonsense", "", "glrt-x"] {
        let refused = bench
            .service
            .update_job(mine.id, token, report(ReportedState::Failed));
        is_stopped(&refused.await, None);
        is_stopped(&bench.service.running_job(mine.id, token).await, None);
        is_stopped(&bench.service.begin_artifact(mine.id, token).await, None);
        is_stopped(&bench.service.open_artifact(mine.id, token).await, None);
    }
    // A job that does not exist looks the same.
    is_stopped(&bench.service.running_job(999, &mine.token).await, None);
    let job = bench.service.job(mine.id).await.unwrap();
    assert_eq!(job.status, JobStatus::Running);
    // Another attempt has another token.
    update(&bench, &mine, report(ReportedState::Success))
        .await
        .unwrap();
    bench.service.retry(mine.id).await.unwrap();
    is_stopped(&authenticated(&bench, &mine).await, None);
    let runner = instance_runner(&bench).await;
    let again = ask(&bench, &runner).await.unwrap();
    assert_eq!(again.id, mine.id);
    assert_ne!(again.token, mine.token);
    is_stopped(&authenticated(&bench, &mine).await, None);
    authenticated(&bench, &again).await.unwrap();
}

async fn a_canceled_job_tells_its_runner(bench: Bench) {
    // Case 57.
    let taken = taken(&bench, json!({})).await;
    update(&bench, &taken, report(ReportedState::Running))
        .await
        .unwrap();
    bench.service.cancel(taken.id).await.unwrap();
    let canceled = Some(JobStatus::Canceled);
    is_stopped(&append(&bench, &taken, 0, b"x").await, canceled);
    for state in [
        ReportedState::Running,
        ReportedState::Success,
        ReportedState::Failed,
    ] {
        is_stopped(&update(&bench, &taken, report(state)).await, canceled);
    }
    is_stopped(
        &bench.service.begin_artifact(taken.id, &taken.token).await,
        canceled,
    );
    let job = bench.service.job(taken.id).await.unwrap();
    assert_eq!(job.status, JobStatus::Canceled);
}

async fn a_runner_that_does_not_begin_loses_the_job_to_another(bench: Bench) {
    let silent = taken(&bench, json!({})).await;
    let begun = taken(&bench, json!({})).await;
    update(&bench, &begun, report(ReportedState::Running))
        .await
        .unwrap();
    let is_queued = |job: &portcullis_ci::JobDetails| job.status == JobStatus::Pending;
    bench
        .job_when(silent.id, "it is in the queue again", is_queued)
        .await;
    is_stopped(&authenticated(&bench, &silent).await, None);
    let other = instance_runner(&bench).await;
    let again = ask(&bench, &other).await.unwrap();
    assert_eq!(again.id, silent.id);
    is_stopped(&authenticated(&bench, &silent).await, None);
    // A piece of the trace is a beginning too, and so is the end.
    append(&bench, &again, 0, b"hello").await.unwrap();
    update(&bench, &again, report(ReportedState::Success))
        .await
        .unwrap();
    let done = bench.service.job(silent.id).await.unwrap();
    assert_eq!(
        (done.status, done.runner_id),
        (JobStatus::Success, Some(other.id))
    );
    let job = bench.service.job(begun.id).await.unwrap();
    assert_eq!(job.status, JobStatus::Running);
}

async fn a_runner_that_falls_silent_loses_the_job_for_good(bench: Bench) {
    let mut settings = bench.settings.clone();
    settings.runners.lost = Duration::from_millis(100);
    bench.service.change(settings);
    let taken = taken(&bench, json!({})).await;
    update(&bench, &taken, report(ReportedState::Running))
        .await
        .unwrap();
    let is_lost = |job: &portcullis_ci::JobDetails| job.status == JobStatus::Failed;
    let lost = bench.job_when(taken.id, "it is lost", is_lost).await;
    assert_eq!(
        lost.failure_reason,
        Some(FailureReason::StuckOrTimeoutFailure)
    );
    is_stopped(
        &update(&bench, &taken, report(ReportedState::Success)).await,
        Some(JobStatus::Failed),
    );
}

async fn a_failed_job_keeps_its_reason_and_exit_code(bench: Bench) {
    let allowed = json!({"allow_failure": {"exit_codes": [3]}});
    for (keys, reason, code, wanted, is_allowed) in [
        (json!({}), None, None, FailureReason::ScriptFailure, false),
        (
            json!({}),
            Some("runner_system_failure"),
            None,
            FailureReason::RunnerSystemFailure,
            false,
        ),
        (
            json!({}),
            Some("admission_denied"),
            None,
            FailureReason::UnknownFailure,
            false,
        ),
        (
            allowed.clone(),
            Some("script_failure"),
            Some(3),
            FailureReason::ScriptFailure,
            true,
        ),
        (
            allowed,
            Some("script_failure"),
            Some(4),
            FailureReason::ScriptFailure,
            false,
        ),
    ] {
        let taken = taken(&bench, keys).await;
        let failed = JobReport {
            failure_reason: reason.map(str::to_owned),
            exit_code: code,
            ..report(ReportedState::Failed)
        };
        for _ in 0..2 {
            let outcome = update(&bench, &taken, failed.clone()).await.unwrap();
            assert_eq!(outcome, ReportOutcome::Counts(JobStatus::Failed));
        }
        let job = bench.service.job(taken.id).await.unwrap();
        assert_eq!(job.failure_reason, Some(wanted));
        assert_eq!(job.allowed_to_fail, is_allowed, "{reason:?} {code:?}");
    }
}

async fn jobs_know_the_number_of_their_project(bench: Bench) {
    bench.controller(json!({})).await;
    let number = |payload: &Value| payload["job_info"]["project_id"].as_u64().unwrap();
    let first = taken(&bench, json!({"project": "g/one"})).await;
    let second = taken(&bench, json!({"project": "g/two"})).await;
    let third = taken(&bench, json!({"project": "g/one"})).await;
    let (one, two) = (number(&first.payload), number(&second.payload));
    assert!(one > 0 && two > 0 && one != two);
    assert_eq!(number(&third.payload), one);
    let told = &bench.entries()[0]["variables"]["CI_PROJECT_ID"];
    assert_eq!(told, &json!(one));
    // Pipelines too.
    let pipeline =
        bench.submit_pipeline(json!([{"name": "a", "stage": "build", "tags": ["linux"]}]));
    let pipeline = pipeline.await;
    let job = bench.service.pipeline(pipeline).await.unwrap().jobs[0].id;
    bench.settled(job).await;
    let runner = instance_runner(&bench).await;
    let of_pipeline = ask(&bench, &runner).await.unwrap();
    assert!(number(&of_pipeline.payload) > 0);
}
