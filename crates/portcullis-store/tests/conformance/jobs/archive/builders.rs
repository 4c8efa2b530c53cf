//! Finished pipelines and jobs, with all that belongs to them, and everything that can be read of them.

use portcullis_jobs::{Event, Job, PipelineStatus, Timestamp};
use portcullis_store::{
    DecisionRecord, Delivery, DeliveryFilter, DeliveryState, IdKind, JobRecord, JobsError,
    JobsReader, JobsTransaction, PipelineRecord, Store,
};

use crate::jobs::builders::{apply, at, definition, delivery, insert, pipeline_definition, run};
use crate::place::Place;

/// What one controller did with the first attempt of a job.
fn decision() -> DecisionRecord {
    DecisionRecord {
        position: 0,
        controller: Some(1),
        decision: serde_json::from_value(serde_json::json!({
            "controller": "c", "level": "instance", "attempt": 1, "verdict": "accepted",
            "dry_run": false, "reason": null, "tags": {"add": [], "remove": []}, "tags_before": [],
            "tags_after": [], "runners": {}, "latency_ms": 1, "at": at(1)
        }))
        .unwrap(),
    }
}

/// What belongs to a job.
fn equip(tx: &mut JobsTransaction<'_>, job: &JobRecord) -> Result<(), JobsError> {
    tx.append_decision(job, &decision())?;
    let id = tx.new_id(IdKind::Delivery)?;
    let state = DeliveryState::Done;
    let project = &job.definition.project;
    tx.insert_delivery(&Delivery {
        state,
        ..delivery(id, project, job.id, 1)
    })
}

/// A job on its own that finished then.
pub(super) fn single(
    tx: &mut JobsTransaction<'_>,
    project: &str,
    seconds: u64,
) -> Result<u64, JobsError> {
    let mut job = insert(tx, project, &[])?;
    apply(&mut job, &Event::Cancel, seconds);
    tx.save_job(&mut job)?;
    equip(tx, &job)?;
    Ok(job.id)
}

/// A pipeline with so many finished jobs that finished then, or is still running.
pub(super) fn pipeline(
    tx: &mut JobsTransaction<'_>,
    project: &str,
    jobs: usize,
    finished_at: Option<u64>,
) -> Result<u64, JobsError> {
    let id = tx.new_id(IdKind::Pipeline)?;
    let submitted = pipeline_definition(project, ["check", "main", "12,1"]);
    let mut pipeline = PipelineRecord::new(id, &submitted, at(0));
    pipeline.status = finished_at.map_or(PipelineStatus::Running, |_| PipelineStatus::Failed);
    pipeline.finished_at = finished_at.map(at);
    tx.insert_pipeline(&mut pipeline, &submitted)?;
    for job in tx.new_ids(IdKind::Job, jobs)? {
        let mut job = JobRecord::new(job, Some(id), definition(project), at(0));
        apply(&mut job, &Event::Cancel, 1);
        tx.insert_job(&mut job)?;
        equip(tx, &job)?;
    }
    Ok(id)
}

/// Archives everything that finished before a time.
pub(super) fn archive_all(store: &mut Store, before: Timestamp) {
    while !run(store, |tx| tx.archive_finished(before, 5)).is_empty() {}
}

/// How many rows the tables have: those in use, and those of the archive.
pub(super) fn counts(place: &Place) -> [[i64; 4]; 2] {
    ["", "archived_"].map(|prefix| {
        ["pipelines", "jobs", "admission_decisions", "deliveries"]
            .map(|table| place.number(&format!("SELECT COUNT(*) FROM {prefix}{table}")))
    })
}

/// Everything that can be read of a job.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    job: Job,
    version: u64,
    promoted: bool,
    decisions: Vec<DecisionRecord>,
    deliveries: Vec<Delivery>,
    by_id: Vec<Option<Delivery>>,
    pipeline: Option<PipelineRecord>,
    definition: Option<serde_json::Value>,
    siblings: Vec<u64>,
    statuses: Vec<String>,
}

/// Reads everything of a job.
pub(super) fn see(reader: &mut JobsReader<'_>, id: u64) -> Result<Option<Seen>, JobsError> {
    let Some(job) = reader.job(id)? else {
        return Ok(None);
    };
    let project = job.definition.project.clone();
    let deliveries = reader.list_deliveries(DeliveryFilter::Job(&project, id), None, 10)?;
    let mut seen = Seen {
        decisions: reader.admission_decisions(&job)?,
        by_id: deliveries
            .iter()
            .map(|one| reader.delivery(one.id))
            .collect::<Result<_, _>>()?,
        deliveries,
        version: job.version(),
        promoted: job.promoted,
        pipeline: None,
        definition: None,
        siblings: Vec::new(),
        statuses: Vec::new(),
        job: job.job,
    };
    if let Some(pipeline) = seen.job.pipeline {
        seen.pipeline = reader.pipeline(pipeline)?;
        let definition = reader.pipeline_definition(pipeline)?;
        seen.definition = definition.map(|one| serde_json::to_value(one).unwrap());
        let jobs = reader.jobs_of_pipeline(&project, pipeline)?;
        seen.siblings = jobs.iter().map(|job| job.id).collect();
        let jobs = reader.pipeline_jobs(&project, pipeline)?;
        seen.statuses = jobs.iter().map(|job| format!("{job:?}")).collect();
    }
    Ok(Some(seen))
}
