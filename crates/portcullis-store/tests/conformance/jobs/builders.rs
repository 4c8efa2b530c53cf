//! Jobs and deliveries to store.

use portcullis_jobs::{Event, JobDefinition, PipelineDefinition, Timestamp};
use portcullis_store::{
    Delivery, DeliveryState, IdKind, JobRecord, JobsError, JobsTransaction, Store,
};
use serde_json::json;

/// A time within the life of these tests' jobs, in seconds after its beginning.
pub(crate) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + seconds * 1000)
}

/// What a job of this project would be.
pub(crate) fn definition(project: &str) -> JobDefinition {
    serde_json::from_value(json!({
        "project": project, "name": "unit", "stage": "test", "ref": "main", "ref_protected": true,
        "source": "push", "user": {"id": 7, "username": "alice"}, "tags": ["linux", "docker"],
        "variables": {"A": "b\u{0}c"}, "script": ["make"], "allow_failure": false
    }))
    .unwrap()
}

/// What a pipeline of this project would be.
pub(crate) fn pipeline_definition(
    project: &str,
    [name, git_ref, change]: [&str; 3],
) -> PipelineDefinition {
    let change = (!change.is_empty()).then_some(change);
    serde_json::from_value(json!({
        "project": project, "name": name, "ref": git_ref, "ref_protected": false, "change": change,
        "source": "push", "user": {"id": 7, "username": "alice"}, "variables": {"A": "b"},
        "stages": ["build", "test"], "jobs": [definition(project)]
    }))
    .unwrap()
}

/// Runs an operation that succeeds.
#[track_caller]
pub(crate) fn run<T>(
    store: &mut Store,
    work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, JobsError>,
) -> T {
    store.jobs(work).unwrap()
}

/// Lets something happen to a job.
pub(crate) fn apply(job: &mut JobRecord, event: &Event, seconds: u64) {
    job.state = job.state.apply(event, at(seconds)).unwrap().state;
}

/// Inserts a job of this project to which these things happened.
pub(crate) fn insert(
    tx: &mut JobsTransaction<'_>,
    project: &str,
    events: &[Event],
) -> Result<JobRecord, JobsError> {
    let id = tx.new_id(IdKind::Job)?;
    let mut job = JobRecord::new(id, None, definition(project), at(0));
    for event in events {
        apply(&mut job, event, 1);
    }
    tx.insert_job(&mut job)?;
    Ok(job)
}

/// A delivery that waits, due at once.
pub(crate) fn delivery(id: u64, project: &str, job: u64, controller: u64) -> Delivery {
    Delivery {
        id,
        project: project.to_owned(),
        job,
        attempt: 1,
        controller,
        state: DeliveryState::Waiting,
        webhook_id: format!("msg_{id}"),
        token_hash: format!("hash-{id}"),
        created_at: at(0),
        next_at: at(0),
        leased_until: None,
        leased_by: None,
        deadline: at(3600),
        tries: Vec::new(),
        answer: None,
    }
}

/// Inserts a delivery that waits, due at once.
pub(crate) fn deliver(
    tx: &mut JobsTransaction<'_>,
    project: &str,
    controller: u64,
) -> Result<Delivery, JobsError> {
    let id = tx.new_id(IdKind::Delivery)?;
    let delivery = delivery(id, project, 1, controller);
    tx.insert_delivery(&delivery)?;
    Ok(delivery)
}
