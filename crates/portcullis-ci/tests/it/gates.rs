//! What operators do with pipelines.

use std::sync::Arc;

use portcullis_ci::{CiError, Gate, JobDetails, OpenGate, Pause, PipelineFilter};
use portcullis_jobs::{JobStatus, PipelineStatus, Timestamp};
use portcullis_testing::Reply;
use serde_json::{Value, json};

use crate::bench::{Bench, id_of};

fn jobs() -> Value {
    json!([
        {"name": "a", "stage": "build", "script": ["true"]},
        {"name": "b", "stage": "test", "script": ["true"]},
    ])
}

/// Holds back new pipelines, results, or both, of the projects in a group.
#[derive(Debug)]
struct Closed {
    group: &'static str,
    new: bool,
    results: bool,
}

impl Closed {
    fn pause(&self, project: &str, is_closed: bool) -> Option<Pause> {
        (is_closed && project.starts_with(self.group)).then(|| Pause {
            tenant: Some("t1".to_owned()),
            since: Timestamp::from_millis(0),
            detail: "incident 42".to_owned(),
        })
    }
}

impl Gate for Closed {
    fn new_pipelines_paused(&self, project: &str) -> Option<Pause> {
        self.pause(project, self.new)
    }

    fn results_paused(&self, project: &str) -> Option<Pause> {
        self.pause(project, self.results)
    }
}

fn closed(group: &'static str, [new, results]: [bool; 2]) -> Arc<dyn Gate> {
    Arc::new(Closed {
        group,
        new,
        results,
    })
}

/// What a job waits for, in words.
fn waits_for(job: &JobDetails) -> Vec<String> {
    let items = job.prerequisites.items.iter();
    items
        .map(|item| {
            let by = item.by.as_deref().unwrap_or("-");
            let detail = item.detail.as_deref().unwrap_or("-");
            format!("{} {by} {} {detail}", item.name, item.state)
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_gate_holds_back_new_pipelines() {
    let bench = Bench::new().await;
    bench.service.set_gate(closed("g/", [true, false]));
    let id = bench.submit_pipeline(jobs()).await;
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Created);
    assert!(
        pipeline
            .jobs
            .iter()
            .all(|job| job.status == JobStatus::Created)
    );
    let [first, second] = [0, 1].map(|place: usize| pipeline.jobs[place].id);
    let first = bench.service.job(first).await.unwrap();
    assert_eq!(waits_for(&first), ["tenant t1 waiting incident 42"]);
    let second = bench.service.job(second).await.unwrap();
    assert!(waits_for(&second).is_empty(), "it waits for its stage only");
    bench.service.resume().await.unwrap();
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Created, "still closed");
    bench.service.set_gate(closed("other/", [true, true]));
    bench.service.resume().await.unwrap();
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Running);
    assert_eq!(pipeline.jobs[0].status, JobStatus::Pending);
    assert_eq!(pipeline.jobs[1].status, JobStatus::Created);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_gate_holds_back_single_jobs() {
    let bench = Bench::new().await;
    bench.service.set_gate(closed("g/", [true, false]));
    let other = bench.submit(json!({"project": "other/p"})).await;
    assert_eq!(other.status, JobStatus::Pending);
    let job = bench.submit(json!({})).await;
    assert_eq!(job.status, JobStatus::Created);
    assert_eq!(waits_for(&job), ["tenant t1 waiting incident 42"]);
    // A job that is held back can be cancelled, and held back again.
    let job = bench.service.cancel(job.id).await.unwrap();
    assert!(waits_for(&job).is_empty());
    let job = bench.service.retry(job.id).await.unwrap();
    assert_eq!((job.status, job.attempt), (JobStatus::Created, 2));
    bench.service.resume().await.unwrap();
    let job = bench.service.job(job.id).await.unwrap();
    assert_eq!(job.status, JobStatus::Created, "still closed");
    bench.service.set_gate(Arc::new(OpenGate));
    bench.service.resume().await.unwrap();
    let job = bench.service.job(job.id).await.unwrap();
    assert_eq!(job.status, JobStatus::Pending);
    assert!(waits_for(&job).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_gate_holds_back_the_next_stage() {
    let bench = Bench::new().await;
    bench.controller(json!({})).await;
    bench.hook.answer(|request| {
        let is_first = request.json()[0]["variables"]["CI_JOB_NAME"] == "a";
        let word = if is_first { "denied" } else { "accepted" };
        Reply::json(&json!([{"id": id_of(request), "admission": word}]))
    });
    bench.service.set_gate(closed("g/", [false, true]));
    let allowed = json!([
        {"name": "a", "stage": "build", "script": ["true"], "allow_failure": true},
        {"name": "b", "stage": "test", "script": ["true"]},
    ]);
    let id = bench.submit_pipeline(allowed).await;
    let pipeline = bench.service.pipeline(id).await.unwrap();
    let [first, second] = [0, 1].map(|place: usize| pipeline.jobs[place].id);
    let first = bench.settled(first).await;
    assert_eq!(first.status, JobStatus::Failed);
    let job = bench.service.job(second).await.unwrap();
    assert_eq!(job.status, JobStatus::Created);
    assert_eq!(waits_for(&job), ["tenant t1 waiting incident 42"]);
    bench.service.set_gate(Arc::new(OpenGate));
    bench.service.resume().await.unwrap();
    assert_eq!(bench.settled(second).await.status, JobStatus::Pending);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_goes_on_however_much_waits() {
    let bench = Bench::new().await;
    bench.service.set_gate(closed("g/", [true, true]));
    let mut ids = Vec::new();
    for _ in 0..150 {
        ids.push(bench.submit(json!({})).await.id);
    }
    bench.service.set_gate(Arc::new(OpenGate));
    // Another server goes on with them as well.
    let (other, _memory) = bench.another().await;
    let (one, two) = tokio::join!(bench.service.resume(), other.resume());
    one.unwrap();
    two.unwrap();
    for id in ids {
        let job = bench.service.job(id).await.unwrap();
        assert_eq!(job.status, JobStatus::Pending);
    }
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
    let counts = bench.service.live_pipeline_counts().await.unwrap();
    let [count] = counts.as_slice() else {
        panic!("{counts:?}")
    };
    assert_eq!((count.project.as_str(), count.count), ("g/p", 1));
    assert_eq!(count.status, PipelineStatus::Running);
    for _ in 0..2 {
        assert_eq!(bench.service.promote_pipeline(id).await.unwrap(), 2);
    }
    assert_eq!(bench.service.cancel_pipeline(id).await.unwrap(), 2);
    let pipeline = bench.service.pipeline(id).await.unwrap();
    assert_eq!(pipeline.status, PipelineStatus::Canceled);
    assert_eq!(
        bench.service.live_pipelines(filter("main")).await.unwrap(),
        [0; 0]
    );
    assert_eq!(bench.service.promote_pipeline(id).await.unwrap(), 0);
    let counts = bench.service.live_pipeline_counts().await.unwrap();
    assert!(counts.is_empty(), "{counts:?}");
}
