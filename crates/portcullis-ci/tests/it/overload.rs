//! Projects that submit too much.

use portcullis_ci::{CiError, Observation};
use portcullis_jobs::read_job;
use serde_json::json;

use crate::bench::{Bench, job, status};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_with_too_many_waiting_jobs_is_refused_and_others_are_not() {
    let bench = Bench::with(|settings| settings.max_backlog = 3).await;
    bench.controller(json!({})).await;
    bench.hook.answer(status(202));
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(bench.submit(json!({})).await.id);
    }
    let another = read_job(&job(&json!({}))).unwrap();
    let refused = bench.service.submit_job(another.clone()).await;
    assert!(
        matches!(refused, Err(CiError::TooManyRequests { .. })),
        "{refused:?}"
    );
    let observed = bench.memory.observed();
    assert!(
        observed
            .iter()
            .any(|one| matches!(one, Observation::Overload { .. }))
    );
    bench.submit(json!({"project": "g/other"})).await;
    // A server that just started counts what is there.
    let (second, _) = bench.another().await;
    let refused = second.submit_job(another.clone()).await;
    assert!(
        matches!(refused, Err(CiError::TooManyRequests { .. })),
        "{refused:?}"
    );
    bench.service.cancel(jobs[0]).await.unwrap();
    bench.service.submit_job(another).await.unwrap();
}
