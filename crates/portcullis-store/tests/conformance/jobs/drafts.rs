//! What is gathered and written together: drafts, groups, records of decisions, the version of what surrounds jobs.

use std::sync::Arc;

use portcullis_jobs::{Event, JobStatus};
use portcullis_record::Written;
use portcullis_store::{
    Filter, IdKind, JobRecord, JobsDraft, JobsError, JobsTransaction, PipelineRecord, RunnerRecord,
    WillChange,
};
use serde_json::json;

use super::builders::{apply, at, definition, delivery, insert, pipeline_definition, run};
use crate::place::Place;
use crate::records::{id, line, listed, summary};

crate::on_both!(
    a_draft_is_stored_in_one_go,
    a_draft_has_no_database,
    a_record_is_stored_with_its_job_or_not_at_all,
    a_record_of_an_operation_that_is_undone_is_not_stored,
    a_job_that_is_saved_again_and_again_is_written_once,
    what_is_not_written_yet_is_seen,
    an_operation_that_is_undone_leaves_what_others_gathered,
    changes_of_what_surrounds_jobs_raise_its_version,
);

/// The record of a decision.
fn record(number: u64) -> Written {
    let summary = summary(id(number, number));
    Written {
        line: line(&summary),
        summary,
        is_truncated: false,
    }
}

fn a_draft_is_stored_in_one_go(place: &Place) {
    let mut store = place.open();
    let ids = [
        (IdKind::Pipeline, vec![5]),
        (IdKind::Job, vec![11, 12, 13]),
        (IdKind::Delivery, vec![3]),
    ];
    let mut draft = JobsDraft::new(ids);
    let origin = pipeline_definition("g/p", ["check", "main", ""]);
    draft
        .run(|tx| {
            let id = tx.new_id(IdKind::Pipeline)?;
            let mut pipeline = PipelineRecord::new(id, &origin, at(0));
            tx.insert_pipeline(&mut pipeline, &origin)?;
            for job in tx.new_ids(IdKind::Job, 2)? {
                let mut job = JobRecord::new(job, Some(id), definition("g/p"), at(0));
                tx.insert_job(&mut job)?;
            }
            Ok::<_, JobsError>(())
        })
        .unwrap();
    draft
        .run(|tx| {
            let mut job = tx.job_for_change(11)?.unwrap();
            assert_eq!(tx.pipeline_jobs("g/p", 5)?.len(), 2);
            apply(&mut job, &Event::Enqueue, 1);
            tx.save_job(&mut job)?;
            let waits = delivery(tx.new_id(IdKind::Delivery)?, "g/p", 12, 1);
            tx.insert_delivery(&waits)?;
            tx.append_record(record(1));
            Ok::<_, JobsError>(())
        })
        .unwrap();
    assert!(!draft.needs_database());
    let (prepared, unused) = draft.prepare().unwrap();
    let left: Vec<u64> = unused.into_values().flatten().collect();
    assert_eq!(left, [13]);
    let prepared = Arc::new(prepared);
    assert_eq!(listed(&mut store, &Filter::default(), 10), []);
    run(&mut store, |tx| {
        tx.adopt(&prepared);
        Ok(())
    });
    let (jobs, pending) = run(&mut store, |tx| {
        Ok((
            tx.jobs_of_pipeline("g/p", 5)?,
            tx.pipeline(5)?.is_some() && tx.delivery(3)?.is_some(),
        ))
    });
    assert!(pending);
    let statuses: Vec<JobStatus> = jobs.iter().map(|job| job.state.status).collect();
    assert_eq!(statuses, [JobStatus::Pending, JobStatus::Created]);
    assert_eq!(jobs[0].version(), 2);
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 1);
    assert_eq!(listed(&mut store, &Filter::default(), 10).len(), 1);
    // The same again is an error, and changes nothing.
    let again = store.jobs(|tx| {
        tx.adopt(&prepared);
        tx.append_record(record(2));
        Ok::<_, JobsError>(())
    });
    assert!(again.is_err());
    assert_eq!(listed(&mut store, &Filter::default(), 10).len(), 1);
}

fn a_draft_has_no_database(_: &Place) {
    let mut draft = JobsDraft::new([]);
    let result = draft.run(|tx| tx.job_for_change(7));
    assert!(matches!(result, Err(JobsError::Draft)), "{result:?}");
    assert!(draft.needs_database());
    let mut draft = JobsDraft::new([]);
    // An error that is ignored is one all the same.
    let result = draft.run(|tx| {
        let _ = tx.new_id(IdKind::Job);
        Ok::<_, JobsError>(())
    });
    assert!(matches!(result, Err(JobsError::Draft)), "{result:?}");
    let mut draft = JobsDraft::new([]);
    let own = draft.run(|_| Err::<(), _>(JobsError::NameTaken("x".into())));
    assert!(matches!(own, Err(JobsError::NameTaken(_))), "{own:?}");
    assert!(!draft.needs_database());
}

fn a_record_is_stored_with_its_job_or_not_at_all(place: &Place) {
    let mut store = place.open();
    let job = run(&mut store, |tx| {
        tx.append_record(record(1));
        insert(tx, "g/p", &[])
    });
    assert_eq!(listed(&mut store, &Filter::default(), 10).len(), 1);
    let wanted = record(1);
    let kept = store.get(&wanted.summary.id).unwrap();
    assert_eq!(kept, Some(wanted.line));
    // A job whose id is taken.
    let failed = store.jobs(|tx| {
        tx.append_record(record(2));
        let mut again = JobRecord::new(job.id, None, definition("g/p"), at(0));
        tx.insert_job(&mut again)
    });
    assert!(failed.is_err());
    assert_eq!(listed(&mut store, &Filter::default(), 10).len(), 1);
    // Others who store decisions go on with the next number.
    crate::records::append(&mut store, &[summary(id(3, 3))]);
    assert_eq!(listed(&mut store, &Filter::default(), 10).len(), 2);
}

fn a_record_of_an_operation_that_is_undone_is_not_stored(place: &Place) {
    let writer = portcullis_store::JobsWriter::start(place.open(), 8).unwrap();
    let kept = |number: u64, is_good: bool| {
        writer.run(move |tx: &mut JobsTransaction<'_>| {
            tx.append_record(record(number));
            insert(tx, "g/p", &[])?;
            match is_good {
                true => Ok(()),
                false => Err(JobsError::NameTaken("x".into())),
            }
        })
    };
    assert!(kept(1, false).is_err());
    assert!(kept(2, true).is_ok());
    assert!(kept(3, false).is_err());
    let ids: Vec<String> = listed(&mut place.open(), &Filter::default(), 10)
        .into_iter()
        .map(|summary| summary.id)
        .collect();
    assert_eq!(ids, [id(2, 2)]);
    assert_eq!(place.number("SELECT COUNT(*) FROM jobs"), 1);
}

fn a_job_that_is_saved_again_and_again_is_written_once(place: &Place) {
    let mut store = place.open();
    let stored = run(&mut store, |tx| insert(tx, "g/p", &[]));
    run(&mut store, |tx| {
        let mut job = tx.job_for_change(stored.id)?.unwrap();
        apply(&mut job, &Event::Enqueue, 1);
        tx.save_job(&mut job)?;
        let mut stale = stored.clone();
        let error = tx.save_job(&mut stale).unwrap_err();
        assert!(matches!(error, JobsError::Stale { .. }), "{error:?}");
        let mut job = tx.job_for_change(stored.id)?.unwrap();
        assert_eq!(job.state.status, JobStatus::Pending);
        job.promoted = true;
        tx.save_job(&mut job)
    });
    let job = run(&mut store, |tx| tx.job(stored.id)).unwrap();
    assert_eq!((job.version(), job.promoted), (3, true));
    let sql = "SELECT COUNT(*) FROM pending_jobs WHERE promoted = 1";
    assert_eq!(place.number(sql), 1);
    run(&mut store, |tx| {
        let mut job = tx.job_for_change(stored.id)?.unwrap();
        apply(&mut job, &Event::Cancel, 2);
        tx.save_job(&mut job)
    });
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 0);
}

fn what_is_not_written_yet_is_seen(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        let job = insert(tx, "g/p", &[Event::Enqueue])?;
        let filter = portcullis_store::JobFilter::default();
        let listed = tx.list_jobs(&filter, None, 10)?;
        assert_eq!(listed.len(), 1);
        // It is written now, and can still be saved.
        let mut job = tx.job_for_change(job.id)?.unwrap();
        job.promoted = true;
        tx.save_job(&mut job)?;
        assert!(tx.list_jobs(&filter, None, 10)?[0].promoted);
        Ok(())
    });
    assert_eq!(place.number("SELECT COUNT(*) FROM jobs"), 1);
}

fn an_operation_that_is_undone_leaves_what_others_gathered(place: &Place) {
    let writer = portcullis_store::JobsWriter::start(place.open(), 64).unwrap();
    let (sender, results) = std::sync::mpsc::channel();
    for number in 0..30_u64 {
        let sender = sender.clone();
        let work = move |tx: &mut JobsTransaction<'_>| {
            let job = insert(tx, "g/p", &[Event::Enqueue])?;
            if number % 3 == 1 {
                // Writes, so that there is a savepoint, and has what others gathered written within it.
                let runner = json!({"id": 1, "runner_type": "instance_type",
                    "access_level": "not_protected"});
                tx.insert_runner(&RunnerRecord {
                    runner: serde_json::from_value(runner).unwrap(),
                    token_hash: format!("hash-{number}"),
                    created_at: at(0),
                })?;
                tx.list_jobs(&portcullis_store::JobFilter::default(), None, 1)?;
                return Err(JobsError::NameTaken("x".into()));
            }
            tx.append_record(record(number));
            Ok(job.id)
        };
        let reply = move |result: Result<u64, JobsError>| sender.send(result.is_ok()).unwrap();
        writer.submit(WillChange::default(), work, reply).unwrap();
    }
    let good = results.iter().take(30).filter(|is_good| *is_good).count();
    assert_eq!(good, 20);
    assert_eq!(place.number("SELECT COUNT(*) FROM jobs"), 20);
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 20);
    assert_eq!(place.number("SELECT COUNT(*) FROM runners"), 0);
    assert_eq!(listed(&mut place.open(), &Filter::default(), 50).len(), 20);
}

fn changes_of_what_surrounds_jobs_raise_its_version(place: &Place) {
    let mut store = place.open();
    let version = |store: &mut portcullis_store::Store| {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is of one lifetime"
        )]
        let read = store.read_jobs(|reader| reader.surroundings_version());
        read.unwrap()
    };
    let first = version(&mut store);
    run(&mut store, |tx| {
        assert_eq!(tx.current_surroundings()?, Some(first));
        insert(tx, "g/p", &[])?;
        assert!(!tx.changes_surroundings());
        Ok(())
    });
    assert_eq!(version(&mut store), first);
    run(&mut store, |tx| {
        tx.delete_runner(1)?;
        // Nobody else may believe what this transaction sees.
        assert_eq!(tx.current_surroundings()?, None);
        assert!(tx.changes_surroundings());
        Ok(())
    });
    assert_eq!(version(&mut store), first + 1);
    let undone = store.jobs(|tx| {
        tx.delete_controller(1)?;
        Err::<(), _>(JobsError::NameTaken("x".into()))
    });
    assert!(undone.is_err());
    assert_eq!(version(&mut store), first + 1);
    run(&mut store, |tx| tx.delete_exemption(1));
    assert_eq!(version(&mut store), first + 2);
}
