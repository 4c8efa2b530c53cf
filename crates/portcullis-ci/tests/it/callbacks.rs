//! Verdicts that controllers send by themselves.

use portcullis_ci::{CallbackOutcome, CiError, DeliveryDetails, Observation};
use portcullis_document::Duration;
use portcullis_jobs::{AdmissionState, FailureReason, JobId, JobStatus};
use serde_json::{Value, json};

use crate::bench::{Bench, answers, status};

/// A job whose controller will call back, and the token for that.
async fn deferred(bench: &Bench, keys: Value) -> (JobId, String) {
    let before = bench.hook.requests().len();
    let job = bench.submit(keys).await.id;
    let delivered = |delivery: &DeliveryDetails| delivery.state == "delivered";
    bench
        .delivery_when(job, "the webhook is delivered", delivered)
        .await;
    (job, token(&bench.entries()[before]))
}

pub(crate) fn token(entry: &Value) -> String {
    let url = entry["callback_url"].as_str().unwrap();
    url.rsplit('/').next().unwrap().to_owned()
}

fn verdict(job: JobId, admission: &str) -> Vec<u8> {
    json!([{"id": job, "admission": admission}])
        .to_string()
        .into_bytes()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_valid_verdict_counts_and_the_same_again_changes_nothing() {
    // Cases 23 to 26.
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    for code in [202, 204, 200] {
        bench.hook.answer(status(code));
        let (job, token) = deferred(&bench, json!({})).await;
        let service = &bench.service;
        for wrong in ["", "x", &token.to_uppercase(), &"x".repeat(10_000)] {
            let refused = service.callback(wrong, &verdict(job, "accepted")).await;
            assert!(matches!(refused, Err(CiError::Unauthorized)), "{refused:?}");
        }
        for invalid in [
            b"{".to_vec(),
            verdict(job + 1, "accepted"),
            verdict(job, "maybe"),
            json!([{"id": job, "admission": "accepted", "tags": {"add": ["\u{7}"]}}])
                .to_string()
                .into_bytes(),
        ] {
            let refused = service.callback(&token, &invalid).await;
            assert!(matches!(refused, Err(CiError::Invalid(_))), "{refused:?}");
        }
        assert_eq!(service.job(job).await.unwrap().status, JobStatus::Preparing);
        let taken = service.callback(&token, &verdict(job, "accepted")).await;
        assert_eq!(taken.unwrap(), CallbackOutcome::Recorded(job));
        assert_eq!(service.job(job).await.unwrap().status, JobStatus::Pending);
        let again = service.callback(&token, &verdict(job, "accepted")).await;
        assert_eq!(again.unwrap(), CallbackOutcome::Repeated(job));
        let spaced = format!(r#" [ {{"admission": "accepted", "id": {job}}} ]"#);
        let again = service.callback(&token, spaced.as_bytes()).await;
        assert_eq!(again.unwrap(), CallbackOutcome::Repeated(job));
        let other = service.callback(&token, &verdict(job, "denied")).await;
        assert!(matches!(other, Err(CiError::Conflict(_))), "{other:?}");
        let job = service.job(job).await.unwrap();
        assert_eq!(job.status, JobStatus::Pending);
        assert_eq!(job.admission.unwrap().decisions.len(), 1);
    }
    let unknown = Observation::UnknownToken;
    let observed = bench.memory.observed();
    assert_eq!(observed.iter().filter(|one| **one == unknown).count(), 12);
    assert_eq!(bench.memory.finished().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inline_verdict_can_be_repeated_by_callback() {
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    let job = bench.submit(json!({})).await.id;
    bench.settled(job).await;
    let token = token(&bench.entries()[0]);
    let same = bench
        .service
        .callback(&token, &verdict(job, "accepted"))
        .await;
    assert_eq!(same.unwrap(), CallbackOutcome::Repeated(job));
    let other = bench
        .service
        .callback(&token, &verdict(job, "denied"))
        .await;
    assert!(matches!(other, Err(CiError::Conflict(_))), "{other:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_that_never_comes_is_a_timeout() {
    // Cases 27 and 28; also if the controller fails open.
    let bench = Bench::with(|settings| settings.deadline = Duration::from_millis(1500)).await;
    bench.hook.answer(status(202));
    bench.controller(json!({"failure_policy": "open"})).await;
    let (job, token) = deferred(&bench, json!({})).await;
    let failed = bench.settled(job).await;
    assert_eq!(failed.status, JobStatus::Failed);
    assert_eq!(failed.failure_reason, Some(FailureReason::AdmissionTimeout));
    let admission = failed.admission.unwrap();
    assert_eq!(admission.state, AdmissionState::Timeout);
    assert!(admission.reason.unwrap().contains("timeout"));
    let late = bench
        .service
        .callback(&token, &verdict(job, "accepted"))
        .await;
    assert!(matches!(late, Err(CiError::Conflict(_))), "{late:?}");
    assert_eq!(
        bench.service.job(job).await.unwrap().status,
        JobStatus::Failed
    );
    let redelivered = bench
        .service
        .redeliver(bench.deliveries(job).await[0].id)
        .await;
    assert!(matches!(redelivered, Err(CiError::Conflict(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_canceled_job_takes_no_verdict() {
    // Case 33.
    let bench = Bench::new().await;
    bench.hook.answer(status(202));
    bench.controller(json!({})).await;
    let (job, token) = deferred(&bench, json!({})).await;
    let canceled = bench.service.cancel(job).await.unwrap();
    assert_eq!(canceled.status, JobStatus::Canceled);
    let late = bench
        .service
        .callback(&token, &verdict(job, "accepted"))
        .await;
    assert!(matches!(late, Err(CiError::Conflict(_))), "{late:?}");
    let again = bench.service.cancel(job).await;
    assert!(matches!(again, Err(CiError::Conflict(_))), "{again:?}");
    assert_eq!(bench.deliveries(job).await[0].state, "failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_good_for_one_attempt() {
    // Case 38.
    let bench = Bench::new().await;
    bench
        .hook
        .answer(answers(json!({"admission": "denied", "reason": "no"})));
    bench.controller(json!({})).await;
    let job = bench.submit(json!({})).await.id;
    bench.settled(job).await;
    bench.hook.answer(status(202));
    let retried = bench.service.retry(job).await.unwrap();
    assert_eq!((retried.attempt, retried.status), (2, JobStatus::Preparing));
    let live = bench.service.retry(job).await;
    assert!(matches!(live, Err(CiError::Conflict(_))), "{live:?}");
    let delivered = |delivery: &DeliveryDetails| delivery.state == "delivered";
    bench.delivery_when(job, "it is delivered", delivered).await;
    let entries = bench.entries();
    assert_eq!(entries[1]["attempt"], 2);
    let (first, second) = (token(&entries[0]), token(&entries[1]));
    assert_ne!(first, second);
    let old = bench
        .service
        .callback(&first, &verdict(job, "accepted"))
        .await;
    assert!(matches!(old, Err(CiError::Conflict(_))), "{old:?}");
    bench
        .service
        .callback(&second, &verdict(job, "accepted"))
        .await
        .unwrap();
    let job = bench.service.job(job).await.unwrap();
    assert_eq!(job.status, JobStatus::Pending);
    let attempts: Vec<u32> = job
        .admission
        .unwrap()
        .decisions
        .iter()
        .map(|d| d.attempt)
        .collect();
    assert_eq!(attempts, [1, 2], "the first verdict stays in the history");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_is_not_waited_for_longer_than_its_timeout() {
    let bench = Bench::new().await;
    let keys = json!({"state": "dry_run", "timeout": "1s"});
    bench.controller(keys).await;
    bench.hook.answer(status(202));
    let (job, token) = deferred(&bench, json!({})).await;
    let settled = bench.settled(job).await;
    assert_eq!(settled.status, JobStatus::Pending);
    let decision = &settled.admission.unwrap().decisions[0];
    assert_eq!(decision.verdict, portcullis_jobs::DecisionVerdict::Timeout);
    let late = bench
        .service
        .callback(&token, &verdict(job, "denied"))
        .await;
    assert!(matches!(late, Err(CiError::Conflict(_))), "{late:?}");
}
