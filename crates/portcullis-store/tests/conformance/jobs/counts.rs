//! Counts of jobs by project, status and waiting time.

use portcullis_jobs::{Event, JobStatus};
use portcullis_store::{IdKind, JobCounts, JobRecord, Store};

use super::builders::{apply, at, definition, insert, run};
use crate::place::Place;

crate::on_both!(
    jobs_are_counted_by_project_and_status,
    the_queue_is_counted_by_waiting_time,
    an_empty_store_has_no_counts,
);

fn of(counts: &JobCounts, status: JobStatus) -> Vec<(String, u64)> {
    let found = counts.jobs.iter().filter(|one| one.status == status);
    found.map(|one| (one.project.clone(), one.count)).collect()
}

fn counts(store: &mut Store, seconds: &[u64]) -> JobCounts {
    let times: Vec<_> = seconds.iter().map(|second| at(*second)).collect();
    run(store, |tx| tx.job_counts(&times))
}

fn jobs_are_counted_by_project_and_status(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for project in ["a/p", "b/p", "a/p"] {
            insert(tx, project, &[])?;
            insert(tx, project, &[Event::Enqueue])?;
        }
        insert(tx, "a/p", &[Event::Cancel])?;
        Ok(())
    });
    let found = counts(&mut store, &[]);
    let both = [("a/p".to_owned(), 2), ("b/p".to_owned(), 1)];
    assert_eq!(of(&found, JobStatus::Created), both);
    assert_eq!(of(&found, JobStatus::Pending), both);
    assert_eq!(of(&found, JobStatus::Canceled), [("a/p".to_owned(), 1)]);
    assert_eq!(of(&found, JobStatus::Running), []);
    assert_eq!(found.at_least, []);
}

fn the_queue_is_counted_by_waiting_time(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for seconds in [10, 20, 30, 31] {
            let id = tx.new_id(IdKind::Job)?;
            let mut job = JobRecord::new(id, None, definition("a/p"), at(0));
            apply(&mut job, &Event::Enqueue, seconds);
            tx.insert_job(&mut job)?;
        }
        Ok(())
    });
    let found = counts(&mut store, &[30, 15]);
    let waiting = found.waiting.iter();
    let waiting: Vec<_> = waiting
        .map(|one| (one.class, one.count, one.oldest))
        .collect();
    assert_eq!(waiting, [(0, 1, at(31)), (1, 2, at(20)), (2, 1, at(10))]);
    assert_eq!(of(&found, JobStatus::Pending), [("a/p".to_owned(), 4)]);
}

fn an_empty_store_has_no_counts(place: &Place) {
    assert_eq!(counts(&mut place.open(), &[5]), JobCounts::default());
}
