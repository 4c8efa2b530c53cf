//! One thread that writes for many.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};

use portcullis_jobs::Event;
use portcullis_store::{
    JobFilter, JobsError, JobsTransaction, JobsWriter, Location, Mode, Store, WillChange,
};
use portcullis_testing::until;

use super::builders::{apply, at, insert, run};
use crate::place::Place;
use crate::server::Server;

crate::on_both!(
    what_many_submit_is_there_after_reopening,
    one_that_fails_harms_none_of_its_group,
    a_full_queue_is_said_at_once,
    dropping_it_finishes_what_waits,
    an_operation_returns_what_it_likes,
);

pub(super) fn writer(place: &Place, capacity: usize) -> JobsWriter {
    JobsWriter::start(place.open(), capacity).unwrap()
}

/// Makes the writer wait until the sender is used or dropped. Comes back when it does.
pub(super) fn hold(writer: &JobsWriter) -> Sender<()> {
    let (started, has_started) = channel();
    let (go, wait): (Sender<()>, Receiver<()>) = channel();
    // It may run again, and waits only once.
    let mut wait = Some(wait);
    let work = move |_: &mut JobsTransaction<'_>| -> Result<(), JobsError> {
        if let Some(wait) = wait.take() {
            let _ = started.send(());
            let _ = wait.recv();
        }
        Ok(())
    };
    writer.submit(WillChange::default(), work, |_| ()).unwrap();
    has_started.recv().unwrap();
    go
}

fn names(place: &Place) -> Vec<u64> {
    let filter = JobFilter::default();
    let jobs = run(&mut place.open(), |tx| tx.list_jobs(&filter, None, 10_000));
    let mut ids: Vec<u64> = jobs.into_iter().map(|job| job.id).collect();
    ids.sort_unstable();
    ids
}

fn what_many_submit_is_there_after_reopening(place: &Place) {
    let writer = writer(place, 64);
    let mut acknowledged: Vec<u64> = std::thread::scope(|scope| {
        let submit = || {
            let insert = |_| {
                writer
                    .run(|tx| insert(tx, "g/p", &[Event::Enqueue]))
                    .unwrap()
                    .id
            };
            (0..40).map(insert).collect::<Vec<u64>>()
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(submit)).collect();
        let all = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        all.collect()
    });
    drop(writer);
    acknowledged.sort_unstable();
    assert_eq!(acknowledged.len(), 640);
    assert_eq!(names(place), acknowledged);
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 640);
}

fn one_that_fails_harms_none_of_its_group(place: &Place) {
    let existing = run(&mut place.open(), |tx| insert(tx, "g/p", &[]));
    let writer = writer(place, 64);
    let go = hold(&writer);
    let (sender, results) = channel();
    for number in 0..20 {
        let mut existing = existing.clone();
        let work = move |tx: &mut JobsTransaction<'_>| {
            let job = insert(tx, "g/p", &[Event::Enqueue])?;
            match number % 5 {
                // Its own error; one of the database, also a hidden one; a panic.
                1 => Err(JobsError::NameTaken("x".into())),
                2 => tx.insert_job(&mut existing).map(|()| job.id),
                3 => {
                    let _ = tx.insert_job(&mut existing);
                    Ok(job.id)
                }
                4 => panic!("an operation of a test panics"),
                _ => Ok(job.id),
            }
        };
        let sender = sender.clone();
        let reply = move |result: Result<u64, JobsError>| sender.send((number, result)).unwrap();
        writer.submit(WillChange::default(), work, reply).unwrap();
    }
    assert_eq!(writer.waiting(), 20);
    go.send(()).unwrap();
    let mut stored = vec![existing.id];
    for (number, result) in results.iter().take(20) {
        match (number % 5, result) {
            (0, Ok(id)) => stored.push(id),
            (1, Err(JobsError::NameTaken(_)))
            | (2 | 3, Err(JobsError::Store(_)))
            | (4, Err(JobsError::Panicked)) => {}
            (_, other) => panic!("{number}: {other:?}"),
        }
    }
    stored.sort_unstable();
    assert_eq!(stored.len(), 5);
    assert_eq!(names(place), stored);
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 4);
    assert_eq!(writer.waiting(), 0);
    assert!(writer.run(|tx| insert(tx, "g/p", &[])).is_ok());
}

fn a_full_queue_is_said_at_once(place: &Place) {
    let writer = writer(place, 2);
    let go = hold(&writer);
    let (sender, results) = channel();
    for _ in 0..2 {
        let sender = sender.clone();
        let reply = move |result: Result<_, JobsError>| sender.send(result.is_ok()).unwrap();
        let insert = |tx: &mut JobsTransaction<'_>| insert(tx, "g/p", &[]);
        writer.submit(WillChange::default(), insert, reply).unwrap();
    }
    let error = writer.run(|tx| insert(tx, "g/p", &[])).unwrap_err();
    assert!(
        matches!(error, JobsError::Full) && error.is_temporary(),
        "{error}"
    );
    drop(go);
    assert_eq!(results.iter().take(2).collect::<Vec<_>>(), [true, true]);
    assert!(writer.run(|tx| insert(tx, "g/p", &[])).is_ok());
    assert_eq!(names(place).len(), 3);
}

fn dropping_it_finishes_what_waits(place: &Place) {
    let writer = writer(place, 200);
    let go = hold(&writer);
    let (sender, results) = channel();
    for _ in 0..150 {
        let sender = sender.clone();
        let reply = move |result: Result<_, JobsError>| sender.send(result.is_ok()).unwrap();
        let insert = |tx: &mut JobsTransaction<'_>| insert(tx, "g/p", &[]);
        writer.submit(WillChange::default(), insert, reply).unwrap();
    }
    drop(sender);
    drop(go);
    drop(writer);
    assert_eq!(results.into_iter().filter(|done| *done).count(), 150);
    assert_eq!(names(place).len(), 150);
}

fn an_operation_returns_what_it_likes(place: &Place) {
    #[derive(Debug, PartialEq)]
    enum Odd {
        Denied,
        Store(String),
    }
    impl From<JobsError> for Odd {
        fn from(error: JobsError) -> Self {
            Self::Store(error.to_string())
        }
    }
    let writer = writer(place, 2);
    assert_eq!(writer.run(|_| Ok::<_, Odd>("text")), Ok("text"));
    assert_eq!(writer.run(|_| Err::<u8, _>(Odd::Denied)), Err(Odd::Denied));
    let mut store = place.open();
    assert_eq!(store.jobs(|_| Err::<u8, _>(Odd::Denied)), Err(Odd::Denied));
}

#[test]
fn operations_that_lock_each_other_both_succeed() {
    let place = Place::postgres();
    let ids = [1, 2].map(|_| run(&mut place.open(), |tx| insert(tx, "g/p", &[])).id);
    let barrier = Arc::new(Barrier::new(2));
    let runs = Arc::new(Mutex::new(0));
    std::thread::scope(|scope| {
        for order in [ids, [ids[1], ids[0]]] {
            let (barrier, runs) = (Arc::clone(&barrier), Arc::clone(&runs));
            let place = &place;
            scope.spawn(move || {
                let writer = writer(place, 4);
                let mut is_first = true;
                let done = writer.run(move |tx| {
                    *runs.lock().unwrap() += 1;
                    for id in order {
                        let mut job = tx.job_for_change(id)?.unwrap();
                        job.promoted = true;
                        tx.save_job(&mut job)?;
                        if std::mem::take(&mut is_first) {
                            barrier.wait();
                        }
                    }
                    Ok::<_, JobsError>(())
                });
                done.unwrap();
            });
        }
    });
    // One of them at least had to be run again.
    assert!(*runs.lock().unwrap() >= 3);
    for id in ids {
        assert_eq!(
            run(&mut place.open(), |tx| tx.job(id)).unwrap().version(),
            3
        );
    }
}

/// Two writers of one database, each with these operations in one transaction unless it ends before. The first
/// operation of each waits until the other's has run. Returns how often each operation ran.
fn crossed<F>(place: &Place, work: impl Fn(usize, usize) -> F) -> Vec<usize>
where
    F: FnMut(&mut JobsTransaction<'_>) -> Result<(), JobsError> + Send + 'static,
{
    const EACH: usize = 3;
    let meeting = Arc::new(Barrier::new(2));
    let runs = Arc::new(Mutex::new(vec![0; 2 * EACH]));
    let writers = [0, 1].map(|_| writer(place, 8));
    let held = [hold(&writers[0]), hold(&writers[1])];
    let (sender, results) = channel();
    for (side, writer) in writers.iter().enumerate() {
        for number in 0..EACH {
            let (meeting, runs) = (Arc::clone(&meeting), Arc::clone(&runs));
            let mut work = work(side, number);
            let mut meets = number == 0;
            let work = move |tx: &mut JobsTransaction<'_>| {
                runs.lock().unwrap()[side * EACH + number] += 1;
                work(tx)?;
                if std::mem::take(&mut meets) {
                    meeting.wait();
                }
                Ok::<_, JobsError>(())
            };
            let sender = sender.clone();
            let reply = move |result| sender.send(result).unwrap();
            writer.submit(WillChange::default(), work, reply).unwrap();
        }
    }
    drop(held);
    for result in results.iter().take(2 * EACH) {
        result.unwrap();
    }
    runs.lock().unwrap().clone()
}

#[test]
fn servers_that_see_new_projects_in_another_order_do_not_lock_each_other() {
    let place = Place::postgres();
    let runs = crossed(&place, |side, number| {
        let path = format!("g/p{}", (side + number) % 2);
        move |tx: &mut JobsTransaction<'_>| tx.ensure_project_id(&path, at(1)).map(drop)
    });
    assert_eq!(runs, [1; 6], "none got in the way of another");
    assert_eq!(place.number("SELECT COUNT(*) FROM projects"), 2);
}

#[test]
fn a_transaction_that_got_in_the_way_of_another_ends_at_once() {
    let place = Place::postgres();
    let both = [1, 2].map(|_| run(&mut place.open(), |tx| insert(tx, "g/p", &[])).id);
    let runs = crossed(&place, |side, number| {
        let id = both[(side + number.min(1)) % 2];
        move |tx: &mut JobsTransaction<'_>| {
            // It writes, and so can be undone on its own.
            tx.delete_manager(1, "none")?;
            let mut job = tx.job_for_change(id)?.unwrap();
            job.promoted = true;
            tx.save_job(&mut job)
        }
    });
    // Those after the ones that locked each other don't do so again.
    assert_eq!((runs[2], runs[5]), (1, 1), "{runs:?}");
}

#[test]
fn a_writer_goes_on_after_its_server_was_away() {
    let server = Server::start(&[]);
    let url = server.url(&server.database());
    let location = Location::parse(&url, Path::new("/")).unwrap();
    let store = || Store::open(&location, Mode::ReadWrite).unwrap();
    let writer = JobsWriter::start(store(), 64).unwrap();
    let first = writer.run(|tx| insert(tx, "g/p", &[])).unwrap().id;

    // Lost while a group is under way: everything in it is said to have failed.
    let go = hold(&writer);
    let (sender, results) = channel();
    for _ in 0..3 {
        let sender = sender.clone();
        let reply = move |result: Result<_, JobsError>| sender.send(result.map(drop)).unwrap();
        let insert = |tx: &mut JobsTransaction<'_>| insert(tx, "g/p", &[]);
        writer.submit(WillChange::default(), insert, reply).unwrap();
    }
    server.stop();
    drop(go);
    for result in results.iter().take(3) {
        let error = result.unwrap_err();
        let is_said = matches!(&error, JobsError::Store(_)) && error.is_temporary();
        assert!(
            is_said || matches!(error, JobsError::Uncertain(_)),
            "{error}"
        );
    }
    let error = writer.run(|tx| insert(tx, "g/p", &[])).unwrap_err();
    assert!(error.is_temporary(), "{error}");

    assert!(server.begin());
    until("the writer writes again", || {
        writer
            .run(move |tx| {
                let mut job = tx.job_for_change(first)?.unwrap();
                apply(&mut job, &Event::Enqueue, 1);
                tx.save_job(&mut job)
            })
            .is_ok()
    });
    // And once more, without an operation in between: none fails.
    server.stop();
    assert!(server.begin());
    assert!(writer.run(|tx| insert(tx, "g/p", &[])).is_ok());
    let count = run(&mut store(), |tx| {
        tx.list_jobs(&JobFilter::default(), None, 9)
    })
    .len();
    assert_eq!(count, 2);
}
