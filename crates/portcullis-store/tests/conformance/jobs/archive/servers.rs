//! Several servers that archive, and change what is archived, at once.

use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_store::{JobsError, Store};

use super::builders::{counts, pipeline, single};
use crate::jobs::builders::{at, run};
use crate::place::Place;

crate::on_both!(
    several_servers_archive_everything_once,
    jobs_may_be_changed_while_they_are_archived,
    what_is_read_meanwhile_is_always_there,
);

const DAY: u64 = 86_400;

/// One that is still running; the others stop when none is, however it ended.
struct Running<'a>(&'a AtomicU64);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn archive_in_small_steps(store: &mut Store) -> u64 {
    let mut moved = 0;
    loop {
        let step = run(store, |tx| tx.archive_finished(at(9 * DAY), 4));
        if step.is_empty() {
            return moved;
        }
        moved += step.jobs;
    }
}

fn several_servers_archive_everything_once(place: &Place) {
    run(&mut place.open(), |tx| {
        for number in 0..40 {
            // On several days, for which there are no partitions yet.
            let finished_at = number % 5 * DAY;
            single(
                tx,
                ["a/p", "b/p"][usize::try_from(number % 2).unwrap()],
                finished_at,
            )?;
            pipeline(tx, "c/p", 2, Some(finished_at))?;
        }
        Ok(())
    });
    let moved: u64 = std::thread::scope(|scope| {
        let servers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| archive_in_small_steps(&mut place.open())))
            .collect();
        servers.into_iter().map(|one| one.join().unwrap()).sum()
    });
    // What one had locked the others left out; one more has nothing left but that.
    let moved = moved + archive_in_small_steps(&mut place.open());
    assert_eq!(moved, 120);
    assert_eq!(counts(place), [[0; 4], [40, 120, 120, 120]]);
}

/// Changes a job as a retry does, and says which version it has then.
fn change(store: &mut Store, id: u64) -> u64 {
    run(store, |tx| {
        let mut job = tx.job_for_change(id)?.unwrap();
        job.promoted = !job.promoted;
        tx.save_job(&mut job)?;
        Ok(job.version())
    })
}

fn jobs_may_be_changed_while_they_are_archived(place: &Place) {
    let ids: Vec<u64> = run(&mut place.open(), |tx| {
        let alone = single(tx, "g/p", 10)?;
        let group = pipeline(tx, "g/p", 3, Some(10))?;
        let jobs = tx.jobs_of_pipeline("g/p", group)?;
        Ok(jobs.iter().map(|job| job.id).chain([alone]).collect())
    });
    let first: Vec<u64> = ids
        .iter()
        .map(|id| run(&mut place.open(), |tx| tx.job(*id)).unwrap().version())
        .collect();
    let changers = AtomicU64::new(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let _running = Running(&changers);
                let mut store = place.open();
                for _ in 0..15 {
                    for id in &ids {
                        change(&mut store, *id);
                    }
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let mut store = place.open();
                while changers.load(Ordering::Relaxed) > 0 {
                    archive_in_small_steps(&mut store);
                }
            });
        }
    });
    archive_in_small_steps(&mut place.open());
    assert_eq!(counts(place), [[0; 4], [1, 4, 4, 4]]);
    for (id, first) in ids.iter().zip(first) {
        let version = run(&mut place.open(), |tx| tx.job(*id)).unwrap().version();
        assert_eq!(version, first + 45, "no change is lost");
    }
}

fn what_is_read_meanwhile_is_always_there(place: &Place) {
    let (alone, group) = run(&mut place.open(), |tx| {
        Ok((single(tx, "g/p", 10)?, pipeline(tx, "g/p", 3, Some(10))?))
    });
    let readers = AtomicU64::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _running = Running(&readers);
                let mut store = place.read_only().unwrap();
                for _ in 0..60 {
                    store
                        .read_jobs(|reader| {
                            let job = reader.job(alone)?.expect("the job is there");
                            assert_eq!(reader.admission_decisions(&job)?.len(), 1);
                            assert!(reader.pipeline(group)?.is_some());
                            assert_eq!(reader.jobs_of_pipeline("g/p", group)?.len(), 3);
                            let all = reader.list_jobs(&Default::default(), None, 100)?;
                            assert_eq!(all.len(), 4);
                            Ok::<_, JobsError>(())
                        })
                        .unwrap();
                }
            });
        }
        scope.spawn(|| {
            let mut store = place.open();
            while readers.load(Ordering::Relaxed) > 0 {
                archive_in_small_steps(&mut store);
                change(&mut store, alone);
                run(&mut store, |tx| tx.pipeline_for_change(group));
            }
        });
    });
}
