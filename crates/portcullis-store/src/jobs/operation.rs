//! Running one operation: alone in a transaction, or as a part of one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use super::error::JobsError;
use super::transaction::JobsTransaction;
use super::unit::Unit;
use crate::database::Database;
use crate::decisions::Decisions;
use crate::error::{Failure, Kind};
use crate::location::Location;

/// How often an operation is run again that got in the way of others.
const RETRIES: u32 = 8;

/// How long it waits before, at first and at most, so that the others get ahead.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// An operation, whatever it returns.
pub(super) trait Operation {
    /// Runs it, and says whether what it did shall stay. It may run several times; the last time counts.
    fn run(&mut self, transaction: &mut JobsTransaction<'_>) -> bool;
}

/// An operation with its result.
pub(super) struct Slot<F, T, E> {
    work: F,
    result: Option<Result<T, E>>,
}

impl<F, T, E> Slot<F, T, E> {
    pub(super) fn new(work: F) -> Self {
        Self { work, result: None }
    }
}

impl<F, T, E: From<JobsError>> Slot<F, T, E> {
    /// The result, unless there is an error instead.
    pub(super) fn into_result(self, error: Option<JobsError>) -> Result<T, E> {
        match (error, self.result) {
            // What it said itself is more precise.
            (Some(_), Some(Err(own))) | (None, Some(Err(own))) => Err(own),
            (Some(error), _) => Err(error.into()),
            (None, Some(Ok(done))) => Ok(done),
            (None, None) => Err(JobsError::Stopped.into()),
        }
    }
}

impl<F, T, E> Operation for Slot<F, T, E>
where
    F: FnMut(&mut JobsTransaction<'_>) -> Result<T, E>,
{
    fn run(&mut self, transaction: &mut JobsTransaction<'_>) -> bool {
        self.result = None;
        let result = (self.work)(transaction);
        let stays = result.is_ok();
        self.result = Some(result);
        stays
    }
}

/// How one run ended.
pub(super) enum Ran {
    /// What it did shall stay.
    Stay,
    /// It shall be undone: the operation says so itself.
    Undo,
    /// It must be undone.
    Failed(Failure),
    /// It must be undone, and this is the error.
    Panicked,
}

/// Runs it once, within a transaction.
pub(super) fn run_once(
    database: &mut dyn Database,
    location: &Location,
    unit: &mut Unit,
    operation: &mut dyn Operation,
) -> Ran {
    let mut transaction = JobsTransaction::new(database, location, unit);
    let run = AssertUnwindSafe(|| operation.run(&mut transaction));
    let stays = catch_unwind(run);
    match (stays, transaction.into_failure()) {
        (Err(_), _) => Ran::Panicked,
        (Ok(_), Some(failure)) => Ran::Failed(failure),
        (Ok(true), None) => Ran::Stay,
        (Ok(false), None) => Ran::Undo,
    }
}

/// Begins a transaction. A connection that was lost since the last one is noticed only now, and nothing is lost with
/// it yet: then another one is made.
pub(super) fn begin(database: &mut dyn Database) -> Result<(), Failure> {
    match database.begin() {
        Err(failure) if failure.kind == Kind::Unavailable => database.begin(),
        other => other,
    }
}

/// Runs it again that got in the way of others as a part of a transaction.
pub(super) fn run_again(
    (location, database, decisions): (&Location, &mut dyn Database, &mut Decisions),
    operation: &mut dyn Operation,
) -> Option<JobsError> {
    thread::sleep(FIRST_PAUSE);
    run_alone((location, database, decisions), operation)
}

/// Runs it in a transaction of its own. Gives the error, if the result of the operation doesn't count.
pub(super) fn run_alone(
    (location, database, decisions): (&Location, &mut dyn Database, &mut Decisions),
    operation: &mut dyn Operation,
) -> Option<JobsError> {
    let mut left = RETRIES;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Err(failure) = begin(database) {
            return Some(JobsError::at(location, failure));
        }
        let mut unit = Unit::new(false);
        let failure = match run_once(database, location, &mut unit, operation) {
            Ran::Stay => match unit.finish(database, decisions) {
                Err(failure) => failure,
                Ok(digests) => match database.commit() {
                    Ok(()) => {
                        decisions.remember(digests);
                        return None;
                    }
                    Err(failure) if failure.kind == Kind::Conflict => failure,
                    Err(failure) => {
                        database.roll_back();
                        return Some(JobsError::uncertain(location, failure));
                    }
                },
            },
            Ran::Failed(failure) => failure,
            ended => {
                database.roll_back();
                return matches!(ended, Ran::Panicked).then_some(JobsError::Panicked);
            }
        };
        database.roll_back();
        if failure.kind != Kind::Conflict || left == 0 {
            return Some(JobsError::at(location, failure));
        }
        left -= 1;
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
