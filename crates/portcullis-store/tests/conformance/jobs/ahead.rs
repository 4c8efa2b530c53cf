//! What operations say that they will change is loaded for all of them at once: that makes no difference to them.

use std::sync::mpsc::{Sender, channel};

use portcullis_jobs::{Event, JobStatus};
use portcullis_store::{
    AfterTry, Delivery, DeliveryState, DeliveryTry, JobRecord, JobsError, JobsTransaction,
    JobsWriter, WillChange,
};

use super::builders::{apply, at, delivery, insert, run};
use super::writer::{hold, writer};
use crate::place::Place;

crate::on_both!(
    operations_see_what_others_before_them_did,
    one_that_is_undone_leaves_the_job_to_the_next,
    a_canceled_delivery_stays_canceled,
    a_delivery_is_canceled_before_it_is_written,
    what_is_not_there_is_not_found,
    more_than_one_statement_takes,
);

type Reply = Sender<Result<(), JobsError>>;

/// Submits an operation.
fn submit(
    writer: &JobsWriter,
    changes: WillChange,
    reply: &Reply,
    work: impl FnMut(&mut JobsTransaction<'_>) -> Result<(), JobsError> + Send + 'static,
) {
    let reply = reply.clone();
    let answer = move |result| reply.send(result).unwrap();
    writer.submit(changes, work, answer).unwrap();
}

/// Lets something happen to a job.
fn change(tx: &mut JobsTransaction<'_>, id: u64, event: &Event) -> Result<(), JobsError> {
    let mut job = tx.job_for_change(id)?.unwrap();
    apply(&mut job, event, 5);
    tx.save_job(&mut job)
}

fn tried(tx: &mut JobsTransaction<'_>, id: u64, after: AfterTry<'_>) -> Result<bool, JobsError> {
    let attempt = DeliveryTry {
        at: at(3),
        status: Some(202),
        error: None,
        duration_ms: 1,
    };
    Ok(tx.record_try(id, "me", attempt, after)?.is_some())
}

fn claimed(id: u64, job: &JobRecord) -> Delivery {
    Delivery {
        leased_by: Some("me".to_owned()),
        leased_until: Some(at(60)),
        ..delivery(id, "g/p", job.id, 3)
    }
}

fn state(place: &Place, id: u64) -> DeliveryState {
    run(&mut place.open(), |tx| tx.delivery(id)).unwrap().state
}

fn operations_see_what_others_before_them_did(place: &Place) {
    let job = run(&mut place.open(), |tx| insert(tx, "g/p", &[]));
    let writer = writer(place, 16);
    let go = hold(&writer);
    let (reply, results) = channel();
    let id = job.id;
    let enqueue = move |tx: &mut JobsTransaction<'_>| change(tx, id, &Event::Enqueue);
    submit(&writer, WillChange::job(id), &reply, enqueue);
    // A list has everything written that was gathered.
    let list = |tx: &mut JobsTransaction<'_>| {
        let jobs = tx.list_jobs(&portcullis_store::JobFilter::default(), None, 9)?;
        assert_eq!(jobs[0].state.status, JobStatus::Pending);
        Ok(())
    };
    submit(&writer, WillChange::default(), &reply, list);
    let cancel = move |tx: &mut JobsTransaction<'_>| change(tx, id, &Event::Cancel);
    submit(&writer, WillChange::job(id), &reply, cancel);
    drop(go);
    assert!(results.iter().take(3).all(|result| result.is_ok()));
    let job = run(&mut place.open(), |tx| tx.job(id)).unwrap();
    assert_eq!(job.state.status, JobStatus::Canceled);
    assert_eq!(job.version(), 3);
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 0);
}

fn one_that_is_undone_leaves_the_job_to_the_next(place: &Place) {
    let job = run(&mut place.open(), |tx| insert(tx, "g/p", &[]));
    let writer = writer(place, 16);
    let go = hold(&writer);
    let (reply, results) = channel();
    let id = job.id;
    let fail = move |tx: &mut JobsTransaction<'_>| {
        change(tx, id, &Event::Cancel)?;
        Err(JobsError::NameTaken("x".into()))
    };
    submit(&writer, WillChange::job(id), &reply, fail);
    let enqueue = move |tx: &mut JobsTransaction<'_>| change(tx, id, &Event::Enqueue);
    submit(&writer, WillChange::job(id), &reply, enqueue);
    drop(go);
    let mut failed: Vec<bool> = results.iter().take(2).map(|one| one.is_err()).collect();
    failed.sort_unstable();
    assert_eq!(failed, [false, true]);
    let job = run(&mut place.open(), |tx| tx.job(id)).unwrap();
    assert_eq!(job.state.status, JobStatus::Pending);
}

fn a_canceled_delivery_stays_canceled(place: &Place) {
    let jobs = run(&mut place.open(), |tx| {
        let jobs = [1, 2, 3].map(|_| insert(tx, "g/p", &[]));
        let jobs = jobs.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (id, job) in (1..).zip(&jobs) {
            tx.insert_delivery(&claimed(id, job))?;
        }
        Ok(jobs)
    });
    let writer = writer(place, 16);
    let go = hold(&writer);
    let (reply, results) = channel();
    let to = |index: usize| WillChange::delivery(&claimed(index as u64 + 1, &jobs[index]));
    // The first is canceled, and then its controller promises an answer.
    let first = jobs[0].clone();
    let cancel = move |tx: &mut JobsTransaction<'_>| tx.cancel_deliveries(&first);
    submit(&writer, to(0), &reply, cancel);
    submit(&writer, to(0), &reply, |tx| {
        tried(tx, 1, AfterTry::Delivered).map(drop)
    });
    // The second is tried again, and then canceled.
    submit(&writer, to(1), &reply, |tx| {
        assert!(tried(tx, 2, AfterTry::Again(at(9)))?);
        Ok(())
    });
    let second = jobs[1].clone();
    let cancel = move |tx: &mut JobsTransaction<'_>| tx.cancel_deliveries(&second);
    submit(&writer, WillChange::job(jobs[1].id), &reply, cancel);
    // The third is answered once.
    for is_first in [true, false] {
        submit(&writer, to(2), &reply, move |tx| {
            assert_eq!(tried(tx, 3, AfterTry::Done("digest"))?, is_first);
            Ok(())
        });
    }
    drop(go);
    assert!(results.iter().take(6).all(|result| result.is_ok()));
    use DeliveryState::{Done, Failed};
    let states = [1, 2, 3].map(|id| state(place, id));
    assert_eq!(states, [Failed, Failed, Done]);
    let tries = run(&mut place.open(), |tx| tx.delivery(3)).unwrap().tries;
    assert_eq!(tries.len(), 1);
}

fn a_delivery_is_canceled_before_it_is_written(place: &Place) {
    let job = run(&mut place.open(), |tx| insert(tx, "g/p", &[]));
    let writer = writer(place, 16);
    let go = hold(&writer);
    let (reply, results) = channel();
    let of = job.clone();
    let deliver =
        move |tx: &mut JobsTransaction<'_>| tx.insert_delivery(&delivery(1, "g/p", of.id, 3));
    submit(&writer, WillChange::job(job.id), &reply, deliver);
    let of = job.clone();
    let cancel = move |tx: &mut JobsTransaction<'_>| tx.cancel_deliveries(&of);
    submit(&writer, WillChange::job(job.id), &reply, cancel);
    let of = job.clone();
    let again =
        move |tx: &mut JobsTransaction<'_>| tx.insert_delivery(&delivery(2, "g/p", of.id, 3));
    submit(&writer, WillChange::job(job.id), &reply, again);
    drop(go);
    assert!(results.iter().take(3).all(|result| result.is_ok()));
    let states = [1, 2].map(|id| state(place, id));
    assert_eq!(states, [DeliveryState::Failed, DeliveryState::Waiting]);
}

fn what_is_not_there_is_not_found(place: &Place) {
    let writer = writer(place, 16);
    let go = hold(&writer);
    let (reply, results) = channel();
    for id in [77, 78] {
        submit(&writer, WillChange::job(id), &reply, move |tx| {
            assert_eq!(tx.job_for_change(id)?, None);
            Ok(())
        });
    }
    drop(go);
    assert!(results.iter().take(2).all(|result| result.is_ok()));
}

fn more_than_one_statement_takes(place: &Place) {
    let ids = run(&mut place.open(), |tx| {
        let jobs = (0..700).map(|_| Ok(insert(tx, "g/p", &[])?.id));
        jobs.collect::<Result<Vec<u64>, _>>()
    });
    let writer = writer(place, 1000);
    let go = hold(&writer);
    let (reply, results) = channel();
    for id in ids {
        let enqueue = move |tx: &mut JobsTransaction<'_>| change(tx, id, &Event::Enqueue);
        submit(&writer, WillChange::job(id), &reply, enqueue);
    }
    drop(go);
    assert!(results.iter().take(700).all(|result| result.is_ok()));
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 700);
}
