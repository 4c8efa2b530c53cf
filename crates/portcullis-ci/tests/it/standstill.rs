//! A database that stands still: its connections stay open, and nothing answers.

use std::sync::Arc;

use portcullis_ci::{CiError, JobFilter, PageRequest};
use portcullis_jobs::read_job;
use portcullis_testing::Postgres;
use serde_json::json;

use crate::bench::{Bench, job};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_store_did_not_begin_in_time_is_not_done_later() {
    let start = tokio::task::spawn_blocking(|| Arc::new(Postgres::start(&[])));
    let postgres = start.await.unwrap();
    let bench = Bench::at_url(&postgres.url("postgres")).await;
    let first = bench.submit(json!({})).await.id;

    postgres.pause();
    let submit = || {
        let definition = read_job(&job(&json!({}))).unwrap();
        bench.service.submit_job(definition)
    };
    let (one, other, read) = tokio::join!(submit(), submit(), bench.service.job(first));
    for error in [one.unwrap_err(), other.unwrap_err(), read.unwrap_err()] {
        assert!(matches!(error, CiError::Unavailable(_)), "{error}");
    }

    postgres.resume();
    let second = bench.submit(json!({})).await.id;
    let page = PageRequest::default();
    let jobs = bench
        .service
        .jobs(JobFilter::default(), page)
        .await
        .unwrap();
    let ids: Vec<_> = jobs.items.iter().map(|job| job.id).collect();
    assert_eq!(ids, [second, first]);
}
