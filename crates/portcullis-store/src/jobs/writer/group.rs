//! One transaction for several operations. What they insert and save is written together at its end.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::database::Database;
use crate::decisions::Decisions;
use crate::error::{Failure, Kind};
use crate::jobs::ahead::{LoadedAhead, WillChange};
use crate::jobs::error::JobsError;
use crate::jobs::operation::{Operation, Ran, begin, run_again, run_once};
use crate::jobs::unit::{Ids, Unit};
use crate::location::Location;

/// Operations in one transaction, at most: it holds the rows it changes until its end.
const MOST: usize = 512;

/// Savepoints in one transaction, at most: PostgreSQL remembers so many where others can look them up quickly.
const MOST_SAVEPOINTS: usize = 64;

/// Ids that are taken at once, at most.
const MOST_IDS: usize = 64;

/// An operation somebody waits for.
pub(super) trait Queued: Operation + Send {
    /// Gives the result, or the error if the result doesn't count.
    fn answer(self: Box<Self>, error: Option<JobsError>);

    /// What it will change.
    fn changes(&self) -> &WillChange;
}

type Waiting = Box<dyn Queued>;

/// Operations that wait.
pub(super) struct Queue<'a> {
    /// Those that come first: one at least. What the transaction has no room for is left.
    pub(super) ready: &'a mut VecDeque<Waiting>,
    pub(super) next: &'a mut dyn FnMut() -> Option<Waiting>,
    /// How many are left.
    pub(super) waiting: &'a dyn Fn() -> usize,
}

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

type Parts<'a> = (&'a Location, &'a mut dyn Database, &'a mut Decisions);

/// Runs operations that are ready and those that follow, and answers all of them but those that are left.
pub(super) fn run(parts: Parts<'_>, queue: Queue<'_>, ids: &mut Ids) {
    let (location, database, decisions) = parts;
    let Queue {
        ready,
        next,
        waiting,
    } = queue;
    take_more(ready, next, MOST);
    if let Err(failure) = begin(database) {
        // Each try takes its time: those that wait as well don't wait for tries of their own.
        let all = ready.drain(..).collect();
        return fail(all, || JobsError::at(location, failure.clone()));
    }
    let mut unit = Unit::new(true);
    unit.ids = std::mem::take(ids);
    let mut stay = Vec::new();
    let mut undone = Vec::new();
    let mut again = Vec::new();
    let mut count = 0;
    let mut broken = None;
    while count < MOST && unit.savepoints() < MOST_SAVEPOINTS && !unit.ends_soon {
        if count == 0 || ready.is_empty() {
            take_more(ready, next, MOST - count);
            if let Err(failure) = load_ahead(database, &mut unit, ready) {
                again.extend(ready.drain(..));
                broken = Some(failure);
                break;
            }
        }
        let Some(mut operation) = ready.pop_front() else {
            break;
        };
        unit.ids_at_once = (ready.len() + waiting()).clamp(1, MOST_IDS);
        match step(database, location, &mut unit, &mut *operation) {
            Step::Stays => stay.push(operation),
            Step::Undone(error) => undone.push((operation, error)),
            Step::Again => {
                // Whoever it locked out waits for rows that this transaction has locked: it must not lock more of them.
                again.push(operation);
                break;
            }
            Step::Broken(failure) => {
                again.push(operation);
                broken = Some(failure);
                break;
            }
        }
        count += 1;
    }
    let ended = match broken {
        Some(failure) => Err(Ended::Nothing(failure)),
        None => end(database, decisions, &mut unit, !stay.is_empty()),
    };
    match ended {
        Ok(()) => {
            *ids = unit.ids;
            stay.into_iter()
                .for_each(|operation| answer(operation, None));
        }
        Err(Ended::Uncertain(failure)) => {
            database.roll_back();
            fail(stay, || JobsError::uncertain(location, failure.clone()));
        }
        Err(Ended::Nothing(failure)) => {
            database.roll_back();
            stay.append(&mut again);
            if failure.kind == Kind::Unavailable {
                stay.extend(undone.into_iter().map(|(operation, _)| operation));
                return fail(stay, || JobsError::at(location, failure.clone()));
            }
            // One of them is to blame, and the others are not.
            again = stay;
        }
    }
    for (operation, error) in undone {
        answer(operation, error);
    }
    run_each((location, database, decisions), again);
}

/// Takes operations that wait, so that there are so many at most.
fn take_more(
    ready: &mut VecDeque<Waiting>,
    next: &mut dyn FnMut() -> Option<Waiting>,
    most: usize,
) {
    let more = most.saturating_sub(ready.len());
    ready.extend(std::iter::from_fn(next).take(more));
}

/// Loads what operations will change.
fn load_ahead(
    database: &mut dyn Database,
    unit: &mut Unit,
    ready: &VecDeque<Waiting>,
) -> Result<(), Failure> {
    let changes = ready.iter().map(|one| one.changes());
    unit.ahead.extend(LoadedAhead::load(database, changes)?);
    Ok(())
}

/// Runs each in a transaction of its own.
fn run_each((location, database, decisions): Parts<'_>, operations: Vec<Waiting>) {
    for mut operation in operations {
        let error = run_again((location, &mut *database, &mut *decisions), &mut *operation);
        answer(operation, error);
    }
}

/// Why a transaction has not ended well.
enum Ended {
    /// Nothing took effect.
    Nothing(Failure),
    /// Everything did, or nothing.
    Uncertain(Failure),
}

/// Writes what is left, and commits.
fn end(
    database: &mut dyn Database,
    decisions: &mut Decisions,
    unit: &mut Unit,
    is_needed: bool,
) -> Result<(), Ended> {
    if !is_needed {
        // Ids that were taken are given back.
        unit.ids.clear();
        database.roll_back();
        return Ok(());
    }
    let digests = unit.finish(database, decisions).map_err(Ended::Nothing)?;
    database.commit().map_err(|failure| match failure.kind {
        Kind::Conflict => Ended::Nothing(failure),
        _ => Ended::Uncertain(failure),
    })?;
    decisions.remember(digests);
    Ok(())
}

fn step(
    database: &mut dyn Database,
    location: &Location,
    unit: &mut Unit,
    operation: &mut dyn Queued,
) -> Step {
    let ran = run_once(database, location, unit, operation);
    let step = match ran {
        Ran::Stay => {
            return match unit.succeed(database) {
                Ok(()) => Step::Stays,
                Err(failure) => Step::Broken(failure),
            };
        }
        Ran::Undo => Step::Undone(None),
        Ran::Panicked => Step::Undone(Some(JobsError::Panicked)),
        // PostgreSQL does nothing more in a transaction without a savepoint before the error.
        Ran::Failed(failure) if !unit.can_undo() => return Step::Broken(failure),
        Ran::Failed(failure) => match failure.kind {
            Kind::Conflict => Step::Again,
            Kind::Unavailable => return Step::Broken(failure),
            _ => Step::Undone(Some(JobsError::at(location, failure))),
        },
    };
    match unit.undo(database) {
        Ok(()) => step,
        Err(failure) => Step::Broken(failure),
    }
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
