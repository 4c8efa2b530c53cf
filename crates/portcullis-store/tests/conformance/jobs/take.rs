//! Runners take jobs out of the queue, lane by lane.

use std::collections::BTreeSet;

use portcullis_jobs::{Event, JobId, RunnerId, RunnerLists};
use portcullis_store::{
    IdKind, JobRecord, JobsError, JobsTransaction, JobsWriter, LaneId, QueuePlace, Store, Taker,
};

use super::builders::{apply, at, definition, run};
use crate::place::Place;

crate::on_both!(
    jobs_that_ask_the_same_share_a_lane,
    a_lane_says_what_its_jobs_ask,
    promoted_jobs_are_first_then_the_oldest,
    lanes_are_listed_with_their_heads,
    what_was_taken_in_the_same_transaction_is_not_taken_again,
    a_job_that_was_canceled_in_the_same_transaction_is_not_taken,
    what_somebody_else_holds_is_left_out,
    many_takers_on_several_stores_take_each_job_once,
    running_jobs_are_counted_by_project,
    a_job_that_is_requeued_is_in_its_lane_again,
    jobs_that_were_queued_before_there_were_lanes_are_taken,
);

/// Puts a job with these tags into the queue.
pub(super) fn enqueue(
    tx: &mut JobsTransaction<'_>,
    project: &str,
    tags: &[&str],
) -> Result<JobRecord, JobsError> {
    let id = tx.new_id(IdKind::Job)?;
    let mut definition = definition(project);
    definition.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    let mut job = JobRecord::new(id, None, definition, at(0));
    apply(&mut job, &Event::Enqueue, 1);
    tx.insert_job(&mut job)?;
    Ok(job)
}

/// Takes so many jobs of a lane for a runner.
fn take(
    tx: &mut JobsTransaction<'_>,
    lane: LaneId,
    most: usize,
    (runner, is_shared): (RunnerId, bool),
) -> Result<Vec<JobId>, JobsError> {
    let mut taken = Vec::new();
    for mut job in tx.pending_for_taking(&[(lane, most)])?.remove(0) {
        apply(&mut job, &Event::Take { runner }, 2);
        job.taker = Some(Taker {
            manager: "s_1".to_owned(),
            is_shared,
        });
        tx.save_job(&mut job)?;
        taken.push(job.id);
    }
    Ok(taken)
}

fn jobs_that_ask_the_same_share_a_lane(place: &Place) {
    let mut store = place.open();
    let lanes: Vec<LaneId> = run(&mut store, |tx| {
        let mut jobs = vec![
            enqueue(tx, "g/p", &["a", "b"])?,
            enqueue(tx, "g/p", &["b", "a", "b"])?,
            enqueue(tx, "g/p", &["ab"])?,
            enqueue(tx, "g/q", &["a", "b"])?,
        ];
        let mut open = enqueue(tx, "g/p", &["a", "b"])?;
        open.definition.ref_protected = false;
        jobs.push(open);
        for lists in [
            (vec![1], vec![]),
            (vec![], vec![1]),
            (vec![1, 2], vec![]),
            (vec![1], vec![2]),
        ] {
            let mut job = enqueue(tx, "g/p", &["a", "b"])?;
            job.admission = Some(filtered(&job, lists));
            jobs.push(job);
        }
        Ok(jobs.iter().map(JobRecord::lane).collect())
    });
    assert_eq!(lanes[0], lanes[1]);
    let different: BTreeSet<LaneId> = lanes.iter().copied().collect();
    assert_eq!(different.len(), lanes.len() - 1, "{lanes:?}");
    assert!(lanes.iter().all(|lane| *lane >= 0));
}

fn filtered(
    job: &JobRecord,
    (accepted, rejected): (Vec<u64>, Vec<u64>),
) -> portcullis_jobs::Admission {
    let tags = job.definition.tags.clone();
    let limit = std::time::Duration::from_secs(9);
    let mut admission = portcullis_jobs::Admission::begin(Vec::new(), tags, at(0), limit);
    admission.filter.restrict(&RunnerLists {
        accepted_ids: accepted,
        rejected_ids: rejected,
    });
    admission
}

fn a_lane_says_what_its_jobs_ask(place: &Place) {
    let mut store = place.open();
    let jobs = run(&mut store, |tx| {
        let mut jobs = vec![enqueue(tx, "g/p", &["z", "a"])?, enqueue(tx, "g/p", &[])?];
        for lists in [(vec![3, 12], vec![30]), (vec![], vec![4])] {
            let mut job = enqueue(tx, "g/p", &["a"])?;
            job.admission = Some(filtered(&job, lists));
            tx.save_job(&mut job)?;
            jobs.push(job);
        }
        // Two verdicts that no runner meets.
        let mut job = enqueue(tx, "g/p", &["a"])?;
        let mut admission = filtered(&job, (vec![1], vec![]));
        admission.filter.restrict(&RunnerLists {
            accepted_ids: vec![2],
            rejected_ids: vec![],
        });
        job.admission = Some(admission);
        tx.save_job(&mut job)?;
        jobs.push(job);
        Ok(jobs)
    });
    for job in jobs {
        let found = run(&mut store, |tx| tx.lane_needs(job.lane()));
        assert_eq!(found, Some(job.lane_needs()));
    }
    assert_eq!(run(&mut store, |tx| tx.lane_needs(7)), None);
}

fn promoted_jobs_are_first_then_the_oldest(place: &Place) {
    let mut store = place.open();
    let lane = run(&mut store, |tx| {
        for _ in 0..5 {
            enqueue(tx, "g/p", &["a"])?;
        }
        for id in [4, 3] {
            let mut job = tx.job_for_change(id)?.unwrap();
            job.promoted = true;
            tx.save_job(&mut job)?;
        }
        Ok(tx.job(1)?.unwrap().lane())
    });
    let places = run(&mut store, |tx| tx.lane_places(lane, 3));
    let ids: Vec<JobId> = places.iter().map(|place| place.job).collect();
    assert_eq!(ids, [3, 4, 1]);
    assert!(places.is_sorted());
    let mut taken = |most| run(&mut store, |tx| take(tx, lane, most, (9, true)));
    assert_eq!(taken(2), [3, 4]);
    assert_eq!(taken(1), [1]);
    assert_eq!(taken(9), [2, 5]);
    assert_eq!(taken(9), [0; 0]);
}

fn lanes_are_listed_with_their_heads(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for project in ["g/p", "h/q", "i/r"] {
            for _ in 0..3 {
                enqueue(tx, project, &["a"])?;
                enqueue(tx, project, &["b"])?;
            }
        }
        let mut job = tx.job_for_change(5)?.unwrap();
        job.promoted = true;
        tx.save_job(&mut job)
    });
    let all = run(&mut store, |tx| tx.lanes(None, 100));
    let heads: BTreeSet<JobId> = all.iter().map(|(_, head)| head.job).collect();
    assert_eq!(heads, [5, 2, 7, 8, 13, 14].into());
    let promoted = QueuePlace {
        promoted: true,
        job: 5,
    };
    assert!(all.iter().any(|(_, head)| *head == promoted));
    assert!(all.is_sorted_by_key(|(lane, _)| *lane));
    let mut paged = Vec::new();
    while paged.len() < all.len() {
        let after = paged.last().map(|(lane, _)| *lane);
        let some = run(&mut store, |tx| tx.lanes(after, 4));
        assert_eq!(some.len(), (all.len() - paged.len()).min(4));
        paged.extend(some);
    }
    assert_eq!(paged, all);
}

fn what_was_taken_in_the_same_transaction_is_not_taken_again(place: &Place) {
    let mut store = place.open();
    let lane = run(&mut store, |tx| {
        let lane = enqueue(tx, "g/p", &["a"])?.lane();
        for _ in 0..9 {
            enqueue(tx, "g/p", &["a"])?;
        }
        Ok(lane)
    });
    let taken = run(&mut store, |tx| {
        let mut taken = Vec::new();
        for most in [1, 3, 1, 9] {
            taken.push(take(tx, lane, most, (9, true))?);
        }
        Ok(taken)
    });
    assert_eq!(
        taken,
        [vec![1], vec![2, 3, 4], vec![5], vec![6, 7, 8, 9, 10]]
    );
}

fn a_job_that_was_canceled_in_the_same_transaction_is_not_taken(place: &Place) {
    let mut store = place.open();
    let lane = run(&mut store, |tx| {
        enqueue(tx, "g/p", &["a"])?;
        Ok(enqueue(tx, "g/p", &["a"])?.lane())
    });
    let taken = run(&mut store, |tx| {
        let mut job = tx.job_for_change(1)?.unwrap();
        apply(&mut job, &Event::Cancel, 2);
        tx.save_job(&mut job)?;
        let taken = take(tx, lane, 1, (9, true))?;
        // The one that was taken is canceled at once.
        let mut job = tx.job_for_change(2)?.unwrap();
        apply(&mut job, &Event::Cancel, 2);
        tx.save_job(&mut job)?;
        Ok(taken)
    });
    assert_eq!(taken, [2]);
    for table in ["pending_jobs", "running_jobs"] {
        let left = place.number(&format!("SELECT COUNT(*) FROM {table}"));
        assert_eq!(left, 0, "{table}");
    }
}

fn what_somebody_else_holds_is_left_out(place: &Place) {
    if place.file().is_some() {
        // There is one writer at a time.
        return;
    }
    let mut store = place.open();
    let lane = run(&mut store, |tx| {
        for _ in 0..2 {
            enqueue(tx, "g/p", &["a"])?;
        }
        Ok(enqueue(tx, "g/p", &["a"])?.lane())
    });
    let taken = run(&mut store, |tx| {
        // This one is about to change the first job, and another one takes two before this transaction ends.
        tx.job_for_change(1)?;
        let other = run(&mut place.open(), |tx| take(tx, lane, 2, (8, true)));
        Ok((other, take(tx, lane, 9, (9, true))?))
    });
    assert_eq!(taken, (vec![2, 3], vec![1]));
}

fn many_takers_on_several_stores_take_each_job_once(place: &Place) {
    let mut store = place.open();
    let lanes: Vec<LaneId> = run(&mut store, |tx| {
        let mut lanes = Vec::new();
        for _ in 0..40 {
            for tag in ["a", "b", "c"] {
                lanes.push(enqueue(tx, "g/p", &[tag])?.lane());
            }
        }
        Ok(lanes)
    });
    let lanes: BTreeSet<LaneId> = lanes.into_iter().collect();
    let lanes: Vec<LaneId> = lanes.into_iter().collect();
    let taken: Vec<JobId> = std::thread::scope(|scope| {
        let servers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| take_all(place.open(), &lanes)))
            .collect();
        let all = servers.into_iter().flat_map(|one| one.join().unwrap());
        all.collect()
    });
    assert_eq!(taken.len(), 120);
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>().len(), 120);
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 0);
    assert_eq!(place.number("SELECT COUNT(*) FROM running_jobs"), 120);
}

/// Four takers of one server take until nothing is left.
fn take_all(store: Store, lanes: &[LaneId]) -> Vec<JobId> {
    let writer = JobsWriter::start(store, 8).unwrap();
    std::thread::scope(|scope| {
        let takers: Vec<_> = (0..4_u64)
            .map(|runner| {
                let writer = &writer;
                scope.spawn(move || {
                    let mut all = Vec::new();
                    loop {
                        let mut some = Vec::new();
                        for lane in lanes.iter().copied() {
                            let taken = writer.run(move |tx| take(tx, lane, 2, (runner, true)));
                            some.extend(
                                taken.map_err(|error: JobsError| error.to_string()).unwrap(),
                            );
                        }
                        // Everything may be held by others, who may take it: ask whether any is left.
                        let left = writer.run(|tx| tx.lanes(None, 9));
                        let left = left.map_err(|error: JobsError| error.to_string()).unwrap();
                        all.extend(some);
                        if left.is_empty() {
                            return all;
                        }
                    }
                })
            })
            .collect();
        let all = takers.into_iter().flat_map(|one| one.join().unwrap());
        all.collect()
    })
}

fn running_jobs_are_counted_by_project(place: &Place) {
    let mut store = place.open();
    let mut lanes = Vec::new();
    for (project, count, is_shared) in [("g/p", 3, true), ("h/q", 2, true), ("h/q", 4, false)] {
        let lane = run(&mut store, |tx| {
            for _ in 1..count {
                enqueue(tx, project, &["a"])?;
            }
            Ok(enqueue(tx, project, &["a"])?.lane())
        });
        let taken = run(&mut store, |tx| take(tx, lane, count, (7, is_shared)));
        lanes.push(taken);
    }
    let counts = |store: &mut Store| {
        let mut counts = run(store, |tx| tx.shared_running_counts());
        counts.sort();
        counts
    };
    let wanted = [("g/p".to_owned(), 3), ("h/q".to_owned(), 2)];
    assert_eq!(counts(&mut store), wanted);
    let id = lanes[0][0];
    let manager = run(&mut store, |tx| tx.manager_of_job("g/p", id));
    assert_eq!(manager, Some((7, "s_1".to_owned())));
    for (id, event) in [
        (lanes[0][0], Event::Succeed),
        (lanes[0][1], Event::Requeue),
        (lanes[1][0], Event::Acknowledge),
        (lanes[1][1], Event::Cancel),
    ] {
        run(&mut store, |tx| {
            let mut job = tx.job_for_change(id)?.unwrap();
            apply(&mut job, &event, 3);
            tx.save_job(&mut job)
        });
    }
    let wanted = [("g/p".to_owned(), 1), ("h/q".to_owned(), 1)];
    assert_eq!(counts(&mut store), wanted);
    assert_eq!(run(&mut store, |tx| tx.manager_of_job("g/p", id)), None);
}

fn a_job_that_is_requeued_is_in_its_lane_again(place: &Place) {
    let mut store = place.open();
    let lane = run(&mut store, |tx| {
        let lane = enqueue(tx, "g/p", &["a"])?.lane();
        enqueue(tx, "g/p", &["a"])?;
        Ok(lane)
    });
    for _ in 0..3 {
        assert_eq!(run(&mut store, |tx| take(tx, lane, 1, (5, true))), [1]);
        run(&mut store, |tx| {
            let mut job = tx.job_for_change(1)?.unwrap();
            apply(&mut job, &Event::Requeue, 3);
            tx.save_job(&mut job)
        });
    }
    assert_eq!(run(&mut store, |tx| take(tx, lane, 2, (5, true))), [1, 2]);
}

fn jobs_that_were_queued_before_there_were_lanes_are_taken(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        enqueue(tx, "g/p", &["b", "a"])?;
        let mut job = enqueue(tx, "g/p", &["a"])?;
        apply(&mut job, &Event::Take { runner: 3 }, 2);
        tx.save_job(&mut job)
    });
    drop(store);
    // What came after lanes.
    place.meddle(
        "DROP TABLE traces; DROP TABLE trace_chunks; DROP TABLE artifacts; DROP TABLE projects; DROP TABLE exemption_uses; \
         DELETE FROM counters WHERE name = 'projects'; DROP INDEX holds_job",
    );
    place.meddle(
        "DROP TABLE running_jobs; DROP TABLE runner_managers; DROP INDEX pending_jobs_lane; \
         ALTER TABLE pending_jobs DROP COLUMN lane; \
         CREATE INDEX pending_jobs_tags ON pending_jobs (tags, protected, promoted, job); \
         CREATE INDEX pending_jobs_project ON pending_jobs (root, project, promoted, job); \
         DELETE FROM portcullis_migrations WHERE version > 7",
    );
    let mut store = place.open();
    run(&mut store, |tx| enqueue(tx, "g/p", &["a", "b"]));
    let lanes = run(&mut store, |tx| tx.lanes(None, 9));
    assert_eq!(lanes.len(), 2, "{lanes:?}");
    let mut taken = BTreeSet::new();
    for (lane, _) in lanes {
        let needs = run(&mut store, |tx| tx.lane_needs(lane)).unwrap();
        assert_eq!(needs.tags, ["a", "b"]);
        taken.extend(run(&mut store, |tx| take(tx, lane, 9, (5, true))));
    }
    assert_eq!(taken, [1, 3].into());
    // One that was running ends.
    run(&mut store, |tx| {
        let mut job = tx.job_for_change(2)?.unwrap();
        apply(&mut job, &Event::Succeed, 3);
        tx.save_job(&mut job)
    });
    assert_eq!(place.number("SELECT COUNT(*) FROM running_jobs"), 2);
}
