//! Controllers that pull.

use portcullis_ci::{CallbackOutcome, CiError, ClaimRequest};
use portcullis_document::Duration;
use portcullis_jobs::JobStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::callbacks::token;

fn at_once() -> ClaimRequest {
    ClaimRequest::default()
}

fn waiting() -> ClaimRequest {
    ClaimRequest {
        wait: Some(Duration::from_secs(30)),
        max: Some(1),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_claims_with_its_secret_and_calls_back() {
    let bench = Bench::new().await;
    let created = bench.controller(json!({"pull": true})).await;
    let (id, secret) = (created.controller.id, created.secret);
    let service = &bench.service;
    for (id, secret) in [(id, "whsec_x"), (id, ""), (id + 1, secret.as_str())] {
        let refused = service.claim(id, secret, at_once()).await;
        assert!(matches!(refused, Err(CiError::Unauthorized)), "{refused:?}");
    }
    let none = service.claim(id, &secret, at_once()).await.unwrap();
    assert_eq!(none.len(), 0);
    // The claim is there before the job.
    let (claimed, submitted) = tokio::join!(service.claim(id, &secret, waiting()), async {
        tokio::task::yield_now().await;
        bench.submit(json!({})).await
    });
    let [entry] = claimed.unwrap().try_into().unwrap();
    assert_eq!(entry.id, submitted.id);
    let again = service.claim(id, &secret, at_once()).await.unwrap();
    assert_eq!(again.len(), 0, "it is reserved");
    let delivery = &bench.deliveries(submitted.id).await[0];
    assert_eq!(
        (delivery.tries.len(), delivery.state.as_str()),
        (1, "waiting")
    );
    let token = token(&json!({"callback_url": entry.callback_url}));
    let verdict = json!([{"id": submitted.id, "admission": "accepted"}]).to_string();
    let outcome = service.callback(&token, verdict.as_bytes()).await.unwrap();
    assert_eq!(outcome, CallbackOutcome::Recorded(submitted.id));
    let job = service.job(submitted.id).await.unwrap();
    assert_eq!(job.status, JobStatus::Pending);
    assert_eq!(bench.hook.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_claimed_and_not_answered_can_be_claimed_again() {
    let bench = Bench::new().await;
    let created = bench
        .controller(json!({"pull": true, "timeout": "1s"}))
        .await;
    let (id, secret) = (created.controller.id, created.secret);
    let submitted = bench.submit(json!({})).await;
    let service = &bench.service;
    let first = service.claim(id, &secret, waiting()).await.unwrap();
    let second = service.claim(id, &secret, waiting()).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(first[0].id, submitted.id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_enabled_controllers_that_pull_can_claim() {
    let bench = Bench::new().await;
    let called = bench.controller(json!({})).await;
    let claimed = bench
        .service
        .claim(called.controller.id, &called.secret, at_once());
    let claimed = claimed.await;
    assert!(matches!(claimed, Err(CiError::Conflict(_))), "{claimed:?}");
    let pulls = bench.controller(json!({"name": "P", "pull": true})).await;
    let id = pulls.controller.id;
    let disabled: Value = json!({"state": "disabled"});
    bench.service.change_controller(id, disabled).await.unwrap();
    let claimed = bench.service.claim(id, &pulls.secret, at_once()).await;
    assert!(matches!(claimed, Err(CiError::Conflict(_))), "{claimed:?}");
}
