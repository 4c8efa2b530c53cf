//! Moving there and back.

use portcullis_jobs::{Event, JobStatus};
use portcullis_store::{ArchivedJobs, JobsError};

use super::builders::{archive_all, counts, pipeline, see, single};
use crate::jobs::builders::{apply, at, insert, run};
use crate::place::Place;

crate::on_both!(
    what_finished_before_moves_with_all_that_belongs_to_it,
    what_is_archived_reads_the_same,
    a_step_moves_no_more_than_it_may,
    a_retried_job_comes_back_with_its_pipeline,
    what_comes_back_goes_away_again,
    a_change_that_fails_leaves_it_archived,
    tokens_are_no_longer_good,
);

fn what_finished_before_moves_with_all_that_belongs_to_it(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        single(tx, "g/p", 10)?;
        single(tx, "g/p", 30)?;
        insert(tx, "g/p", &[Event::Enqueue])?;
        pipeline(tx, "g/p", 3, Some(10))?;
        pipeline(tx, "h/p", 2, Some(11))?;
        pipeline(tx, "g/p", 3, Some(30))?;
        pipeline(tx, "g/p", 3, None)
    });
    let archived = run(&mut store, |tx| tx.archive_finished(at(20), 100));
    assert_eq!(
        archived,
        ArchivedJobs {
            jobs: 6,
            pipelines: 2
        }
    );
    assert_eq!(counts(place), [[2, 8, 7, 7], [2, 6, 6, 6]]);
    let archived = run(&mut store, |tx| tx.archive_finished(at(20), 100));
    assert!(archived.is_empty());
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 1);
}

fn what_is_archived_reads_the_same(place: &Place) {
    let mut store = place.open();
    let (alone, group) = run(&mut store, |tx| {
        Ok((single(tx, "g/p", 10)?, pipeline(tx, "g/h/p", 3, Some(12))?))
    });
    let see_all = || {
        let mut reader = place.read_only().unwrap();
        reader
            .read_jobs(|reader| {
                let jobs = reader.jobs_of_pipeline("g/h/p", group)?;
                let ids = jobs.iter().map(|job| job.id).chain([alone]);
                ids.map(|id| see(reader, id))
                    .collect::<Result<Vec<_>, JobsError>>()
            })
            .unwrap()
    };
    let before = see_all();
    assert_eq!(before.len(), 4);
    assert!(before.iter().all(Option::is_some));
    archive_all(&mut store, at(20));
    assert_eq!(counts(place)[0], [0; 4]);
    assert_eq!(see_all(), before);
    // In a transaction that writes as well.
    let seen = run(&mut store, |tx| see(tx, alone));
    assert_eq!(&seen, before.last().unwrap());
    assert_eq!(run(&mut store, |tx| tx.job(777)), None);
}

fn a_step_moves_no_more_than_it_may(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for _ in 0..5 {
            single(tx, "g/p", 10)?;
        }
        pipeline(tx, "g/p", 2, Some(10))?;
        pipeline(tx, "g/p", 7, Some(11))
    });
    let mut steps = Vec::new();
    loop {
        let step = run(&mut store, |tx| tx.archive_finished(at(20), 3));
        if step.is_empty() {
            break;
        }
        steps.push((step.jobs, step.pipelines));
    }
    // A pipeline moves whole, even if it has more jobs.
    assert_eq!(steps, [(3, 0), (4, 1), (7, 1)]);
    assert_eq!(counts(place), [[0; 4], [2, 14, 14, 14]]);
}

fn a_retried_job_comes_back_with_its_pipeline(place: &Place) {
    let mut store = place.open();
    let (alone, group) = run(&mut store, |tx| {
        Ok((single(tx, "g/p", 10)?, pipeline(tx, "g/p", 3, Some(10))?))
    });
    let first = run(&mut store, |tx| tx.jobs_of_pipeline("g/p", group))[0].id;
    archive_all(&mut store, at(20));
    let mut in_use = [0; 4];
    for (job, with) in [(alone, [0, 1, 1, 1]), (first, [1, 3, 3, 3])] {
        let before = run(&mut store, |tx| see(tx, job));
        run(&mut store, |tx| {
            let mut job = tx.job_for_change(job)?.unwrap();
            apply(&mut job, &Event::Retry, 30);
            tx.save_job(&mut job)
        });
        let after = run(&mut store, |tx| tx.job(job)).unwrap();
        assert_eq!(
            (after.state.status, after.state.attempt),
            (JobStatus::Created, 2)
        );
        assert_ne!(run(&mut store, |tx| see(tx, job)), before);
        assert_eq!(
            run(&mut store, |tx| tx.admission_decisions(&after)).len(),
            1
        );
        for (place, count) in in_use.iter_mut().zip(with) {
            *place += count;
        }
        assert_eq!(counts(place)[0], in_use);
    }
    assert_eq!(counts(place), [[1, 4, 4, 4], [0; 4]]);
    // The pipeline is still marked as finished; it is found and locked where it is in use now.
    let found = run(&mut store, |tx| tx.pipeline_for_change(group)).unwrap();
    assert_eq!(found.id, group);
}

fn what_comes_back_goes_away_again(place: &Place) {
    let mut store = place.open();
    let group = run(&mut store, |tx| pipeline(tx, "g/p", 3, Some(10)));
    for _ in 0..3 {
        archive_all(&mut store, at(20));
        assert_eq!(counts(place), [[0; 4], [1, 3, 3, 3]]);
        assert!(run(&mut store, |tx| tx.pipeline_for_change(group)).is_some());
        assert_eq!(counts(place), [[1, 3, 3, 3], [0; 4]]);
        let jobs = run(&mut store, |tx| {
            tx.jobs_of_pipeline_for_change("g/p", group)
        });
        assert_eq!(jobs.len(), 3);
    }
    assert_eq!(run(&mut store, |tx| tx.pipeline_for_change(777)), None);
    assert_eq!(run(&mut store, |tx| tx.job_for_change(777)), None);
}

fn a_change_that_fails_leaves_it_archived(place: &Place) {
    let mut store = place.open();
    let job = run(&mut store, |tx| single(tx, "g/p", 10));
    archive_all(&mut store, at(20));
    let failed: Result<(), JobsError> = store.jobs(|tx| {
        assert!(tx.job_for_change(job)?.is_some());
        Err(JobsError::Stopped)
    });
    assert!(matches!(failed, Err(JobsError::Stopped)));
    assert_eq!(counts(place), [[0; 4], [0, 1, 1, 1]]);
    // Saving what was loaded from there and not moved back changes nothing.
    let stale = store.jobs(|tx| {
        let mut found = tx.job(job)?.unwrap();
        tx.save_job(&mut found)
    });
    assert!(matches!(stale, Err(JobsError::Stale { .. })), "{stale:?}");
}

fn tokens_are_no_longer_good(place: &Place) {
    let mut store = place.open();
    let job = run(&mut store, |tx| single(tx, "g/p", 10));
    let seen = |tx: &mut portcullis_store::JobsTransaction<'_>| tx.delivery_by_token("hash-1");
    assert_eq!(run(&mut store, seen).unwrap().job, job);
    archive_all(&mut store, at(20));
    assert_eq!(run(&mut store, seen), None);
}
