//! One transaction for several operations, each in a savepoint.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::database::Database;
use crate::error::{Failure, Kind};
use crate::jobs::error::JobsError;
use crate::jobs::operation::{Operation, Ran, begin, run_again, run_once};
use crate::location::Location;

/// Operations in one transaction, at most: it holds the rows it changes until its end. PostgreSQL remembers so many
/// savepoints of a transaction where others can look them up quickly.
const MOST: usize = 64;

const SAVE: &str = "SAVEPOINT operation";
const UNDO: &str = "ROLLBACK TO SAVEPOINT operation";
const RELEASE: &str = "RELEASE SAVEPOINT operation";

/// An operation somebody waits for.
pub(super) trait Queued: Operation + Send {
    /// Gives the result, or the error if the result doesn't count.
    fn answer(self: Box<Self>, error: Option<JobsError>);
}

type Waiting = Box<dyn Queued>;

/// How an operation ended within the transaction.
enum Step {
    /// What it did is a part of the transaction.
    Stays,
    /// It was undone; the error, if it isn't its own.
    Undone(Option<JobsError>),
    /// It was undone, and is to be run again, without others.
    Again,
    /// The whole transaction is lost.
    Broken(Failure),
}

/// Runs the first operation and what `next` gives, and answers all of them.
pub(super) fn run(
    database: &mut dyn Database,
    location: &Location,
    first: Waiting,
    next: &mut dyn FnMut() -> Option<Waiting>,
) {
    if let Err(failure) = begin(database) {
        // Each try takes its time: those that wait as well don't wait for tries of their own.
        let others = std::iter::from_fn(next).take(MOST - 1);
        let all: Vec<Waiting> = std::iter::once(first).chain(others).collect();
        return fail(all, || JobsError::at(location, failure.clone()));
    }
    let mut stay = Vec::new();
    let mut undone = Vec::new();
    let mut again = Vec::new();
    let mut current = Some(first);
    let mut count = 0;
    while let Some(mut operation) = current {
        match step(database, location, &mut *operation) {
            Step::Stays => stay.push(operation),
            Step::Undone(error) => undone.push((operation, error)),
            Step::Again => again.push(operation),
            Step::Broken(failure) => {
                database.roll_back();
                stay.extend(again);
                stay.extend(undone.into_iter().map(|(operation, _)| operation));
                stay.push(operation);
                return fail(stay, || JobsError::at(location, failure.clone()));
            }
        }
        count += 1;
        current = if count < MOST { next() } else { None };
    }
    match commit(database, !stay.is_empty()) {
        Ok(()) => stay
            .into_iter()
            .for_each(|operation| answer(operation, None)),
        // Nothing took effect.
        Err(failure) if failure.kind == Kind::Conflict => again.splice(..0, stay).for_each(drop),
        Err(failure) => fail(stay, || JobsError::uncertain(location, failure.clone())),
    }
    for (operation, error) in undone {
        answer(operation, error);
    }
    for mut operation in again {
        let error = run_again(database, location, &mut *operation);
        answer(operation, error);
    }
}

fn commit(database: &mut dyn Database, is_needed: bool) -> Result<(), Failure> {
    if !is_needed {
        database.roll_back();
        return Ok(());
    }
    database.commit().inspect_err(|_| database.roll_back())
}

fn step(database: &mut dyn Database, location: &Location, operation: &mut dyn Queued) -> Step {
    if let Err(failure) = database.execute(SAVE, &[]) {
        return Step::Broken(failure);
    }
    let ran = run_once(database, location, operation);
    let is_undone = !matches!(ran, Ran::Stay);
    let step = match ran {
        Ran::Stay => Step::Stays,
        Ran::Undo => Step::Undone(None),
        Ran::Panicked => Step::Undone(Some(JobsError::Panicked)),
        Ran::Failed(failure) => match failure.kind {
            Kind::Conflict => Step::Again,
            Kind::Unavailable => return Step::Broken(failure),
            _ => Step::Undone(Some(JobsError::at(location, failure))),
        },
    };
    let undo = is_undone.then_some(UNDO).into_iter();
    for sql in undo.chain([RELEASE]) {
        if let Err(failure) = database.execute(sql, &[]) {
            return Step::Broken(failure);
        }
    }
    step
}

fn fail(operations: Vec<Waiting>, error: impl Fn() -> JobsError) {
    for operation in operations {
        answer(operation, Some(error()));
    }
}

fn answer(operation: Waiting, error: Option<JobsError>) {
    // Whoever waits for one result doesn't stop the others.
    let _ = catch_unwind(AssertUnwindSafe(|| operation.answer(error)));
}
