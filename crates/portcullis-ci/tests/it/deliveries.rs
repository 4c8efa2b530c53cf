//! How webhooks are sent, and sent again.

use portcullis_ci::{CiError, DeliveryDetails, Observation};
use portcullis_document::Duration;
use portcullis_jobs::{ControllerState, DecisionVerdict, FailureReason, JobStatus};
use portcullis_testing::{Reply, Server};
use serde_json::json;

use crate::bench::{Bench, accepts, pause, status, until};

fn tried(times: usize) -> impl Fn(&DeliveryDetails) -> bool {
    move |delivery| delivery.tries.len() >= times
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_try_has_the_same_id() {
    // Case 29.
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    bench.hook.answer(status(500));
    let job = bench.submit(json!({})).await.id;
    // The second try comes by itself.
    let delivery = bench.delivery_when(job, "two tries", tried(2)).await;
    assert_eq!(delivery.tries[0].status, Some(500));
    assert!(delivery.next_at.unwrap() > delivery.tries[1].at);
    bench.hook.answer(accepts);
    bench.service.redeliver(delivery.id).await.unwrap();
    assert_eq!(bench.settled(job).await.status, JobStatus::Pending);
    let delivery = bench.service.delivery(delivery.id).await.unwrap();
    assert_eq!(delivery.tries.len(), 3);
    assert_eq!(delivery.state, "done");
    assert_eq!(delivery.next_at, None);
    let requests = bench.hook.requests();
    assert_eq!(requests.len(), 3);
    for request in &requests {
        assert_eq!(
            request.header("webhook-id"),
            Some(delivery.webhook_id.as_str())
        );
        assert_eq!(request.json(), requests[0].json(), "also the same token");
    }
    let again = bench.service.redeliver(delivery.id).await;
    assert!(matches!(again, Err(CiError::Conflict(_))), "{again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_are_not_followed() {
    // Case 30.
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    let other = Server::http(accepts);
    let location = format!("Location: {}/\r\n", other.url());
    bench
        .hook
        .answer(move |_| Reply::with("302 Found", &location, b""));
    let job = bench.submit(json!({})).await.id;
    let delivery = bench.delivery_when(job, "a try", tried(1)).await;
    assert_eq!(delivery.tries[0].status, Some(302));
    assert!(
        delivery.tries[0]
            .error
            .as_ref()
            .unwrap()
            .contains("redirect")
    );
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_is_gone_is_suspended_until_it_is_enabled() {
    // Case 31.
    let bench = Bench::new().await;
    let id = bench.controller(json!({})).await.controller.id;
    bench.hook.answer(status(410));
    let first = bench.submit(json!({})).await.id;
    bench.delivery_when(first, "a try", tried(1)).await;
    let controller = bench.service.controller(id).await.unwrap();
    assert_eq!(controller.definition.state, ControllerState::Suspended);
    let is_told = || {
        let observed = bench.memory.observed();
        let is_suspended = |one: &Observation| matches!(one, Observation::Suspended { .. });
        observed.iter().any(is_suspended)
    };
    until("it is told", is_told).await;
    let second = bench.submit(json!({})).await;
    assert_eq!(second.status, JobStatus::Preparing);
    assert_eq!(bench.deliveries(second.id).await.len(), 0);
    assert_eq!(bench.hook.requests().len(), 1);
    bench.hook.answer(accepts);
    let enabled = json!({"state": "enabled"});
    bench.service.change_controller(id, enabled).await.unwrap();
    for job in [first, second.id] {
        assert_eq!(bench.settled(job).await.status, JobStatus::Pending);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_controller_counts_as_failing() {
    // Case 31.
    let bench = Bench::with(|settings| settings.deadline = Duration::from_millis(1500)).await;
    bench.hook.answer(status(410));
    bench.controller(json!({})).await;
    for _ in 0..2 {
        let job = bench.submit(json!({})).await.id;
        let job = bench.settled(job).await;
        assert_eq!(job.failure_reason, Some(FailureReason::AdmissionTimeout));
    }
    assert_eq!(bench.hook.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retry_after_is_honoured() {
    // Case 32.
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    bench
        .hook
        .answer(|_| Reply::Status(429, "Retry-After: 20\r\n", String::new()));
    let job = bench.submit(json!({})).await.id;
    let delivery = bench.delivery_when(job, "a try", tried(1)).await;
    let wait = delivery.next_at.unwrap().since(delivery.tries[0].at);
    assert!(wait >= std::time::Duration::from_secs(20), "{wait:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_fails_open_is_passed_over() {
    let bench = Bench::new().await;
    bench.controller(json!({"failure_policy": "open"})).await;
    bench.hook.answer(status(500));
    let job = bench.submit(json!({})).await.id;
    let job = bench.settled(job).await;
    assert_eq!(job.status, JobStatus::Pending);
    let decision = &job.admission.unwrap().decisions[0];
    assert_eq!(decision.verdict, DecisionVerdict::Error);
    assert!(!decision.dry_run);
    assert_eq!(bench.deliveries(job.id).await[0].state, "failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_fails_closed_is_a_timeout_in_the_end() {
    // Case 27.
    let bench = Bench::with(|settings| settings.deadline = Duration::from_millis(1500)).await;
    bench.controller(json!({})).await;
    bench.hook.answer(status(500));
    let job = bench.submit(json!({})).await.id;
    let job = bench.settled(job).await;
    assert_eq!(job.status, JobStatus::Failed);
    assert_eq!(job.failure_reason, Some(FailureReason::AdmissionTimeout));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_calls_at_a_time_than_the_controller_allows() {
    let bench = Bench::new().await;
    bench.controller(json!({"concurrency": 2})).await;
    bench.hook.hold();
    let mut jobs = Vec::new();
    for _ in 0..6 {
        jobs.push(bench.submit(json!({})).await.id);
    }
    until("two calls are under way", || {
        bench.hook.requests().len() == 2
    })
    .await;
    // Whoever would call a third time has had many chances.
    for _ in 0..30 {
        pause().await;
    }
    assert_eq!(bench.hook.requests().len(), 2);
    bench.hook.release();
    for job in jobs {
        assert_eq!(bench.settled(job).await.status, JobStatus::Pending);
    }
    assert_eq!(bench.hook.requests().len(), 6);
    assert!(bench.hook.connections() <= 2, "connections are kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_failures_open_the_breaker() {
    let bench = Bench::new().await;
    let id = bench
        .controller(json!({"concurrency": 1}))
        .await
        .controller
        .id;
    bench.hook.answer(status(500));
    for _ in 0..8 {
        bench.submit(json!({})).await;
    }
    let is_open = || {
        let observed = bench.memory.observed();
        observed
            .iter()
            .any(|one| matches!(one, Observation::Breaker { .. }))
    };
    until("the breaker opens", is_open).await;
    let before = bench.hook.requests().len();
    for _ in 0..30 {
        pause().await;
    }
    assert_eq!(bench.hook.requests().len(), before, "nothing is sent");
    // Whoever repairs the controller says so.
    bench.hook.answer(accepts);
    let patch = json!({"timeout": "10s"});
    bench.service.change_controller(id, patch).await.unwrap();
    until("it is called again", || {
        bench.hook.requests().len() > before
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_hangs_is_a_failed_try() {
    let bench = Bench::new().await;
    bench.controller(json!({"timeout": "1s"})).await;
    bench.hook.answer(|_| Reply::Hang);
    let job = bench.submit(json!({})).await.id;
    let delivery = bench.delivery_when(job, "a try", tried(1)).await;
    assert_eq!(delivery.tries[0].status, None);
    assert!(
        delivery.tries[0]
            .error
            .as_ref()
            .unwrap()
            .contains("no answer")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_do_not_wait_for_a_broken_controller_that_fails_open() {
    let bench = Bench::new().await;
    let keys = json!({"failure_policy": "open", "concurrency": 1});
    bench.controller(keys).await;
    bench.hook.answer(status(500));
    for _ in 0..5 {
        let job = bench.submit(json!({})).await.id;
        bench.settled(job).await;
    }
    let is_open = || {
        let observed = bench.memory.observed();
        let is_breaker = |one: &Observation| matches!(one, Observation::Breaker { .. });
        observed.iter().any(is_breaker)
    };
    until("the breaker opens", is_open).await;
    let job = bench.submit(json!({})).await.id;
    let job = bench.settled(job).await;
    assert_eq!(job.status, JobStatus::Pending);
    let decision = &job.admission.unwrap().decisions[0];
    assert_eq!(decision.verdict, DecisionVerdict::Error);
    assert!(decision.reason.as_ref().unwrap().contains("not called"));
    assert_eq!(bench.hook.requests().len(), 5);
    let stats = bench.service.stats().await.unwrap();
    assert_eq!(stats.oldest_deliveries, []);
    assert!(stats.live_jobs.contains(&(JobStatus::Pending, 6)));
}
