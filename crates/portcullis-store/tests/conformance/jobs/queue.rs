//! The queue follows the status of jobs; deadlines; counts.

use std::collections::BTreeSet;
use std::time::Duration;

use portcullis_jobs::{Admission, Event, JobStatus, RunnerLists};

use super::builders::{apply, at, insert, run};
use crate::place::Place;

crate::on_both!(
    the_queue_follows_the_status,
    a_pending_job_carries_what_a_claim_needs,
    jobs_past_their_deadline_are_claimed_once,
    two_who_look_for_deadlines_share_them,
    live_jobs_are_counted,
);

const PENDING: &str = "SELECT COUNT(*) FROM pending_jobs";

fn the_queue_follows_the_status(place: &Place) {
    let mut store = place.open();
    let id = run(&mut store, |tx| insert(tx, "g/p", &[])).id;
    assert_eq!(place.number(PENDING), 0);
    let events = [
        (Event::Enqueue, 1),
        (Event::Take { runner: 4 }, 0),
        (Event::Requeue, 1),
        (Event::Take { runner: 5 }, 0),
        (Event::Succeed, 0),
        (Event::Retry, 0),
        (Event::Enqueue, 1),
        (Event::Cancel, 0),
    ];
    for (event, expected) in events {
        run(&mut store, |tx| {
            let mut job = tx.job_for_change(id)?.unwrap();
            apply(&mut job, &event, 2);
            tx.save_job(&mut job)
        });
        assert_eq!(place.number(PENDING), expected, "{event:?}");
    }
    // One that is pending from the beginning.
    run(&mut store, |tx| insert(tx, "g/p", &[Event::Enqueue]));
    assert_eq!(place.number(PENDING), 1);
}

fn a_pending_job_carries_what_a_claim_needs(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        let mut job = insert(tx, "g/p", &[])?;
        let tags = ["z", "a", "z"].map(str::to_owned).to_vec();
        let mut admission = Admission::begin(Vec::new(), tags, at(0), Duration::from_secs(9));
        admission.filter.restrict(&RunnerLists {
            accepted_ids: vec![12, 3],
            rejected_ids: vec![30],
        });
        job.admission = Some(admission);
        apply(&mut job, &Event::Enqueue, 1);
        tx.save_job(&mut job)?;
        // Saved once more: promoted.
        job.promoted = true;
        tx.save_job(&mut job)?;
        insert(tx, "h/q", &[Event::Enqueue])
    });
    let wanted = "SELECT COUNT(*) FROM pending_jobs WHERE root = 'g' AND project = 'g/p' \
                  AND promoted = 1 AND protected = 1 AND tags = '[\"a\",\"z\"]' \
                  AND accepted LIKE '%,3,%' AND NOT accepted LIKE '%,2,%' AND rejected = ',30,'";
    assert_eq!(place.number(wanted), 1);
    let other = "SELECT COUNT(*) FROM pending_jobs WHERE root = 'h' AND promoted = 0 \
                 AND tags = '[\"docker\",\"linux\"]' AND accepted IS NULL AND rejected IS NULL";
    assert_eq!(place.number(other), 1);
}

fn jobs_past_their_deadline_are_claimed_once(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for deadline in [30, 10, 20, 99] {
            let mut job = insert(tx, "g/p", &[])?;
            job.deadline = Some(at(deadline));
            tx.save_job(&mut job)?;
        }
        insert(tx, "g/p", &[])
    });
    assert_eq!(run(&mut store, |tx| tx.next_deadline()), Some(at(10)));
    let mut claim = |now: u64, limit| {
        run(&mut store, |tx| {
            tx.claim_due_jobs(at(now), at(now + 50), limit)
        })
    };
    assert!(claim(9, 10).is_empty());
    assert_eq!(claim(40, 2), [2, 3]);
    assert_eq!(claim(40, 2), [1]);
    assert!(claim(40, 2).is_empty());
    // The lease of whoever never came back is over.
    assert_eq!(claim(90, 10), [1, 2, 3]);
    // One that was claimed and dealt with isn't due any more, and can be saved although it was claimed.
    run(&mut store, |tx| {
        let mut job = tx.job_for_change(2)?.unwrap();
        job.deadline = None;
        tx.save_job(&mut job)
    });
    let left = run(&mut store, |tx| tx.claim_due_jobs(at(500), at(600), 10));
    assert_eq!(left.into_iter().collect::<BTreeSet<_>>(), [1, 3, 4].into());
}

fn two_who_look_for_deadlines_share_them(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for _ in 0..60 {
            let mut job = insert(tx, "g/p", &[])?;
            job.deadline = Some(at(1));
            tx.save_job(&mut job)?;
        }
        Ok(())
    });
    let claimed: Vec<u64> = std::thread::scope(|scope| {
        let claim = || {
            let mut store = place.open();
            let mut all = Vec::new();
            for _ in 0..40 {
                all.extend(run(&mut store, |tx| tx.claim_due_jobs(at(2), at(90), 7)));
            }
            all
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(claim)).collect();
        let all = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        all.collect()
    });
    assert_eq!(claimed.len(), 60);
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>().len(), 60);
}

fn live_jobs_are_counted(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for _ in 0..3 {
            insert(tx, "g/p", &[])?;
        }
        insert(tx, "g/p", &[Event::Enqueue])?;
        insert(tx, "g/p", &[Event::Cancel])
    });
    let counts = run(&mut store, |tx| tx.live_job_counts());
    let expected = [
        (JobStatus::Created, 3),
        (JobStatus::Preparing, 0),
        (JobStatus::Pending, 1),
        (JobStatus::Running, 0),
    ];
    assert_eq!(counts, expected);
}
