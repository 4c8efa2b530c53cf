//! Deleting what finished long ago.

use portcullis_jobs::{Event, PipelineStatus};
use portcullis_store::{
    DeletedJobs, IdKind, JobRecord, JobsError, JobsTransaction, PipelineRecord,
};

use super::builders::{apply, at, definition, delivery, insert, pipeline_definition, run};
use crate::place::Place;

crate::on_both!(
    what_finished_before_is_deleted_with_all_that_belongs_to_it,
    a_step_deletes_no_more_than_it_may,
);

fn finished(tx: &mut JobsTransaction<'_>, seconds: u64) -> Result<JobRecord, JobsError> {
    let mut job = insert(tx, "g/p", &[])?;
    apply(&mut job, &Event::Cancel, seconds);
    tx.save_job(&mut job)?;
    tx.insert_delivery(&delivery(job.id, "g/p", job.id, 1))?;
    Ok(job)
}

/// A pipeline with three finished jobs.
fn pipeline(tx: &mut JobsTransaction<'_>, finished_at: Option<u64>) -> Result<u64, JobsError> {
    let id = tx.new_id(IdKind::Pipeline)?;
    let submitted = pipeline_definition("g/p", ["check", "main", ""]);
    let mut pipeline = PipelineRecord::new(id, &submitted, at(0));
    pipeline.status = finished_at.map_or(PipelineStatus::Running, |_| PipelineStatus::Failed);
    pipeline.finished_at = finished_at.map(at);
    tx.insert_pipeline(&mut pipeline, &submitted)?;
    for job in tx.new_ids(IdKind::Job, 3)? {
        let mut job = JobRecord::new(job, Some(id), definition("g/p"), at(0));
        apply(&mut job, &Event::Skip, 1);
        tx.insert_job(&mut job)?;
    }
    Ok(id)
}

fn what_finished_before_is_deleted_with_all_that_belongs_to_it(place: &Place) {
    let mut store = place.open();
    let (old, new, live) = run(&mut store, |tx| {
        let old = finished(tx, 10)?;
        tx.append_decision(&old, &serde_decision())?;
        let new = finished(tx, 30)?;
        tx.append_decision(&new, &serde_decision())?;
        let live = insert(tx, "g/p", &[Event::Enqueue])?;
        pipeline(tx, Some(10))?;
        pipeline(tx, Some(30))?;
        pipeline(tx, None)?;
        Ok((old, new, live))
    });
    let deleted = run(&mut store, |tx| tx.delete_finished(at(20), 100));
    assert_eq!(
        deleted,
        DeletedJobs {
            jobs: 4,
            pipelines: 1
        }
    );
    let deleted = run(&mut store, |tx| tx.delete_finished(at(20), 100));
    assert_eq!(deleted, DeletedJobs::default());
    let exists = |id| place.open().jobs(|tx| tx.job(id)).unwrap().is_some();
    assert_eq!([old.id, new.id, live.id].map(exists), [false, true, true]);
    for (sql, left) in [
        ("SELECT COUNT(*) FROM jobs", 8),
        ("SELECT COUNT(*) FROM pipelines", 2),
        ("SELECT COUNT(*) FROM deliveries", 1),
        ("SELECT COUNT(*) FROM admission_decisions", 1),
        ("SELECT COUNT(*) FROM pending_jobs", 1),
    ] {
        assert_eq!(place.number(sql), left, "{sql}");
    }
}

fn serde_decision() -> portcullis_store::DecisionRecord {
    portcullis_store::DecisionRecord {
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

fn a_step_deletes_no_more_than_it_may(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for _ in 0..3 {
            finished(tx, 10)?;
        }
        pipeline(tx, Some(10))?;
        pipeline(tx, Some(11))
    });
    let mut total = DeletedJobs::default();
    for _ in 0..20 {
        let step = run(&mut store, |tx| tx.delete_finished(at(20), 2));
        assert!(step.jobs <= 2 && step.pipelines <= 2, "{step:?}");
        total.jobs += step.jobs;
        total.pipelines += step.pipelines;
    }
    assert_eq!(
        total,
        DeletedJobs {
            jobs: 9,
            pipelines: 2
        }
    );
    assert_eq!(place.number("SELECT COUNT(*) FROM jobs"), 0);
    assert_eq!(place.number("SELECT COUNT(*) FROM pipelines"), 0);
}
