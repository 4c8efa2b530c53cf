//! A server that ends and starts again, and several servers on one store.

use std::collections::BTreeSet;
use std::sync::Arc;

use portcullis_ci::{CallbackOutcome, DeliveryDetails, Service};
use portcullis_document::Duration;
use portcullis_jobs::{FailureReason, JobStatus, read_job};
use serde_json::json;

use crate::bench::{Bench, accepts, job, status};
use crate::callbacks::token;

/// Makes two tests of each case: one for each database.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$case(crate::bench::Bench::with(super::short).await).await; })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(crate::bench::Bench::on_postgres(super::short).await).await;
            })*
        }
    };
}
pub(crate) use on_both;

on_both! {
    a_server_that_starts_again_goes_on,
    what_a_dead_server_was_sending_is_sent_by_another,
    a_policy_that_a_dead_server_evaluated_is_asked_again_in_time,
    a_deadline_passes_while_no_server_runs,
    servers_share_the_work_and_send_nothing_twice,
    chains_and_pipelines_work,
}

fn short(settings: &mut portcullis_ci::Settings) {
    settings.deadline = Duration::from_secs(60);
}

/// Ends the server as if it were killed, and starts it again.
async fn start_again(bench: &mut Bench) {
    let (service, memory) = bench.another().await;
    bench.service = service;
    bench.memory = memory;
}

async fn a_server_that_starts_again_goes_on(mut bench: Bench) {
    // Case 58.
    bench.controller(json!({})).await;
    bench.hook.answer(status(500));
    let failing = bench.submit(json!({})).await.id;
    let tried = |delivery: &DeliveryDetails| !delivery.tries.is_empty();
    let before = bench.delivery_when(failing, "a try", tried).await;
    bench.hook.answer(status(202));
    let deferred = bench.submit(json!({})).await.id;
    let delivered = |delivery: &DeliveryDetails| delivery.state == "delivered";
    bench
        .delivery_when(deferred, "it is delivered", delivered)
        .await;
    let is_deferred = |entry: &serde_json::Value| entry["id"] == deferred;
    let token = token(
        bench
            .entries()
            .iter()
            .find(|entry| is_deferred(entry))
            .unwrap(),
    );
    bench.hook.answer(accepts);
    start_again(&mut bench).await;
    let job = bench.settled(failing).await;
    assert_eq!(job.status, JobStatus::Pending);
    let after = bench.service.delivery(before.id).await.unwrap();
    assert_eq!(after.webhook_id, before.webhook_id);
    assert_eq!(after.deadline, before.deadline);
    let verdict = json!({"id": deferred, "admission": "accepted"}).to_string();
    let outcome = bench
        .service
        .callback(&token, verdict.as_bytes())
        .await
        .unwrap();
    assert_eq!(outcome, CallbackOutcome::Recorded(deferred));
    let outcome = bench
        .service
        .callback(&token, verdict.as_bytes())
        .await
        .unwrap();
    assert_eq!(outcome, CallbackOutcome::Repeated(deferred));
    let job = bench.service.job(deferred).await.unwrap();
    assert_eq!(job.admission.unwrap().decisions.len(), 1);
}

async fn what_a_dead_server_was_sending_is_sent_by_another(mut bench: Bench) {
    // Case 58: the first one claimed the delivery, and never says what became of it.
    bench.controller(json!({"timeout": "1s"})).await;
    bench.hook.hold();
    let job = bench.submit(json!({})).await.id;
    let is_sent = || bench.hook.requests().len() == 1;
    crate::bench::until("the webhook is called", is_sent).await;
    start_again(&mut bench).await;
    bench.hook.release();
    assert_eq!(bench.settled(job).await.status, JobStatus::Pending);
    let [first, second] = bench.hook.requests().try_into().unwrap();
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    assert_eq!(first.json(), second.json());
    let job = bench.service.job(job).await.unwrap();
    assert_eq!(job.admission.unwrap().decisions.len(), 1);
}

async fn a_policy_that_a_dead_server_evaluated_is_asked_again_in_time(mut bench: Bench) {
    bench.settings.deadline = Duration::from_secs(10);
    bench.service.change(bench.settings.clone());
    // A new job is stored when its policies have answered, or don't for long; a retried one before they are asked.
    let id = bench.submit(json!({})).await.id;
    bench.service.cancel(id).await.unwrap();
    bench.judge.have_ci_policies();
    bench.judge.hang(true);
    let service = bench.service.clone();
    let retrying = tokio::spawn(async move { service.retry(id).await.map(drop) });
    crate::bench::until("the policies are asked", || !bench.judge.asked().is_empty()).await;
    retrying.abort();
    let _ = retrying.await;
    start_again(&mut bench).await;
    bench.judge.hang(false);
    let job = bench.settled(id).await;
    assert_eq!((job.status, job.failure_reason), (JobStatus::Pending, None));
    assert_eq!(job.admission.unwrap().decisions.len(), 1);
}

async fn a_deadline_passes_while_no_server_runs(mut bench: Bench) {
    let mut settings = bench.settings.clone();
    settings.deadline = Duration::from_millis(700);
    bench.service.change(settings);
    bench.controller(json!({})).await;
    bench.hook.answer(status(202));
    let job = bench.submit(json!({})).await.id;
    let deadline = bench
        .delivery_when(job, "a delivery", |_| true)
        .await
        .deadline;
    bench.service.shut_down(portcullis_testing::PATIENCE).await;
    let now = || portcullis_jobs::Timestamp::from(portcullis_core::clock::wall());
    let is_over = || now() > deadline;
    crate::bench::until("the deadline passes", is_over).await;
    assert_eq!(
        bench.service.job(job).await.unwrap().status,
        JobStatus::Preparing
    );
    start_again(&mut bench).await;
    let job = bench.settled(job).await;
    assert_eq!(job.failure_reason, Some(FailureReason::AdmissionTimeout));
    bench.finished(1).await;
}

async fn servers_share_the_work_and_send_nothing_twice(bench: Bench) {
    bench.controller(json!({"concurrency": 4})).await;
    let (second, other_memory) = bench.another().await;
    let services: Vec<Arc<Service>> = vec![Arc::new(bench.service.clone()), Arc::new(second)];
    let mut submitted = BTreeSet::new();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..40_usize {
        let service = Arc::clone(&services[number % 2]);
        let project = format!("g/p{}", number % 3);
        tasks.spawn(async move {
            let definition = read_job(&job(&json!({"project": project}))).unwrap();
            service.submit_job(definition).await.unwrap().id
        });
    }
    while let Some(id) = tasks.join_next().await {
        submitted.insert(id.unwrap());
    }
    assert_eq!(submitted.len(), 40, "every job has an id of its own");
    for id in &submitted {
        assert_eq!(bench.settled(*id).await.status, JobStatus::Pending);
        assert_eq!(bench.deliveries(*id).await[0].tries.len(), 1);
    }
    assert_eq!(bench.hook.requests().len(), 40, "each was sent once");
    let recorded = || bench.memory.finished().len() + other_memory.finished().len();
    crate::bench::until("all are recorded", || recorded() >= 40).await;
    assert_eq!(recorded(), 40);
}

async fn chains_and_pipelines_work(bench: Bench) {
    bench.runners().await;
    let group = json!({"name": "G", "level": "group", "path": "g"});
    bench.controller(group).await;
    bench.controller(json!({"failure_policy": "open"})).await;
    let keys = json!({"name": "P", "policy": "known"});
    bench.controller(keys).await;
    let jobs = json!([
        {"name": "a", "stage": "build", "script": ["true"], "tags": ["linux"]},
        {"name": "b", "stage": "build", "script": ["true"], "tags": ["linux"]},
        {"name": "c", "stage": "test", "script": ["true"]},
    ]);
    let id = bench.submit_pipeline(jobs).await;
    let pipeline = bench.service.pipeline(id).await.unwrap();
    for job in &pipeline.jobs[..2] {
        let job = bench.settled(job.id).await;
        assert_eq!(job.status, JobStatus::Pending);
        assert_eq!(job.eligible_runners, [1, 2, 3]);
        assert_eq!(job.admission.unwrap().decisions.len(), 3);
    }
    for job in &pipeline.jobs[..2] {
        bench.service.cancel(job.id).await.unwrap();
    }
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.jobs[2].status, JobStatus::Skipped);
    bench.service.retry(pipeline.jobs[0].id).await.unwrap();
    let job = bench.settled(pipeline.jobs[0].id).await;
    assert_eq!((job.status, job.attempt), (JobStatus::Pending, 2));
}
