//! What operators do with pipelines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_ci::{CiError, Gate, OpenGate, PipelineFilter};
use portcullis_jobs::{JobStatus, PipelineStatus};
use serde_json::{Value, json};

use crate::bench::Bench;

fn jobs() -> Value {
    json!([
        {"name": "a", "stage": "build", "script": ["true"]},
        {"name": "b", "stage": "test", "script": ["true"]},
    ])
}

#[derive(Debug, Default)]
struct Closed(AtomicBool);

impl Gate for Closed {
    fn lets_start(&self, _: &str) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn lets_continue(&self, _: &str) -> bool {
        false
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_gate_holds_back_new_pipelines() {
    let bench = Bench::new().await;
    bench.service.set_gate(Arc::new(Closed::default()));
    let id = bench.submit_pipeline(jobs()).await;
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Created);
    assert!(
        pipeline
            .jobs
            .iter()
            .all(|job| job.status == JobStatus::Created)
    );
    bench.service.resume("g/p").await.unwrap();
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Created, "still closed");
    bench.service.set_gate(Arc::new(OpenGate));
    bench.service.resume("g/p").await.unwrap();
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Running);
    assert_eq!(pipeline.jobs[0].status, JobStatus::Pending);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipelines_are_found_promoted_and_canceled() {
    let bench = Bench::new().await;
    let id = bench.submit_pipeline(jobs()).await;
    let filter = |git_ref: &str| PipelineFilter {
        project: "g/p".to_owned(),
        git_ref: Some(git_ref.to_owned()),
        ..PipelineFilter::default()
    };
    let definition = bench.service.newest_pipeline(filter("main")).await.unwrap();
    assert_eq!(definition.jobs.len(), 2);
    let none = bench.service.newest_pipeline(filter("other")).await;
    assert!(matches!(none, Err(CiError::NotFound)), "{none:?}");
    let live = bench.service.live_pipelines(filter("main")).await.unwrap();
    assert_eq!(live, [id]);
    assert_eq!(bench.service.promote_pipeline(id).await.unwrap(), 2);
    assert_eq!(bench.service.promote_pipeline(id).await.unwrap(), 0);
    assert_eq!(bench.service.cancel_pipeline(id).await.unwrap(), 2);
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Canceled);
    assert_eq!(
        bench.service.live_pipelines(filter("main")).await.unwrap(),
        [0; 0]
    );
}
