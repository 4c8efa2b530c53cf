//! Deleting what is too old or too much. What is too old is deleted entirely; of what is too much, denials
//! are deleted last (see `thin`).

use std::time::{Duration, SystemTime};

use super::{Decisions, ulid};
use crate::database::{Database, Value, lock_upkeep, one, transaction, unsigned};
use crate::error::Failure;

/// Decisions deleted in one transaction, about: others who write wait so long at most.
const STEP: u64 = 2000;

/// Batches looked at in one step.
const BATCHES: usize = 256;

/// How much is kept; everything by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Only what is younger than this.
    pub age: Option<Duration>,
    /// Only so many bytes.
    pub size: Option<u64>,
}

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many decisions.
    pub decisions: u64,
    /// In how many batches.
    pub batches: u64,
}

impl Pruned {
    fn add(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.batches += other.batches;
    }
}

/// What one step did.
#[derive(Debug, Default)]
struct Deleted {
    pruned: Pruned,
    /// Whether there was anything to do.
    is_some: bool,
}

/// A batch that may be deleted.
struct Batch {
    first: i64,
    lines: i64,
    bytes: u64,
}

impl Decisions {
    /// Deletes what is too old or too much.
    pub(crate) fn prune(
        &mut self,
        database: &mut dyn Database,
        retention: &Retention,
        now: SystemTime,
    ) -> Result<Pruned, Failure> {
        let mut pruned = Pruned::default();
        if let Some(bound) = retention.age.and_then(|age| now.checked_sub(age)) {
            let bound = ulid::lowest(bound);
            while step(database, &mut pruned, |database| {
                let condition = "WHERE newest_id < ?1";
                let old = batches(database, condition, &[Value::Text(&bound)], u64::MAX)?;
                delete(database, &old)
            })? {}
        }
        if let Some(limit) = retention.size {
            while step(database, &mut pruned, |database| {
                let whole = "WHERE thinned = 0";
                let mut thinned = Deleted::default();
                for batch in excess(database, whole, limit)? {
                    let one = self.thin(database, batch.first, batch.lines)?;
                    thinned.pruned.add(one);
                    thinned.is_some = true;
                }
                Ok(thinned)
            })? {}
            self.share_refusals(database, limit, &mut pruned)?;
            // Where even that is too much, the oldest go.
            while step(database, &mut pruned, |database| {
                let oldest = excess(database, "", limit)?;
                delete(database, &oldest)
            })? {}
        }
        if retention.age.is_some() || retention.size.is_some() {
            database.give_space_back()?;
        }
        Ok(pruned)
    }
}

/// How much is in use.
fn size_in_use(database: &mut dyn Database) -> Result<u64, Failure> {
    if let Some(size) = database.size_in_use()? {
        return Ok(size);
    }
    let sql = "SELECT CAST(COALESCE(SUM(body_size + row_size), 0) AS BIGINT) FROM decision_batches";
    Ok(unsigned(one(database, sql, &[])?.number()?))
}

/// The oldest batches: of about a step's size, and not many more than have this many bytes.
fn batches(
    database: &mut dyn Database,
    condition: &str,
    values: &[Value<'_>],
    enough: u64,
) -> Result<Vec<Batch>, Failure> {
    let sql = format!(
        "SELECT first, lines, body_size + row_size FROM decision_batches {condition} \
         ORDER BY first LIMIT {BATCHES}"
    );
    let mut found = Vec::new();
    let (mut decisions, mut bytes) = (0, 0_u64);
    for mut row in database.query(&sql, values)? {
        if decisions >= STEP || bytes >= enough {
            break;
        }
        let batch = Batch {
            first: row.number()?,
            lines: row.number()?,
            bytes: unsigned(row.number()?),
        };
        decisions += unsigned(batch.lines);
        bytes = bytes.saturating_add(batch.bytes);
        found.push(batch);
    }
    Ok(found)
}

/// The oldest batches that are too much.
fn excess(database: &mut dyn Database, condition: &str, limit: u64) -> Result<Vec<Batch>, Failure> {
    match size_in_use(database)?.saturating_sub(limit) {
        0 => Ok(Vec::new()),
        excess => batches(database, condition, &[], excess),
    }
}

/// Deletes batches with all that is in them.
fn delete(database: &mut dyn Database, batches: &[Batch]) -> Result<Deleted, Failure> {
    let mut deleted = Deleted::default();
    for batch in batches {
        let span = [
            Value::Number(batch.first),
            Value::Number(batch.first + batch.lines),
        ];
        let rows = "DELETE FROM decisions WHERE number >= ?1 AND number < ?2";
        deleted.pruned.decisions += database.execute(rows, &span)?;
        let body = "DELETE FROM decision_batches WHERE first = ?1";
        deleted.pruned.batches += database.execute(body, &[Value::Number(batch.first)])?;
        deleted.is_some = true;
    }
    Ok(deleted)
}

/// Does some of the work, in one transaction. Says whether there was something to do.
fn step(
    database: &mut dyn Database,
    pruned: &mut Pruned,
    work: impl FnOnce(&mut dyn Database) -> Result<Deleted, Failure>,
) -> Result<bool, Failure> {
    let deleted = transaction(database, |database| {
        lock_upkeep(database)?;
        work(database)
    })?;
    pruned.add(deleted.pruned);
    Ok(deleted.is_some)
}
