//! Making room without losing denials.
//!
//! Every user can make decisions, as many and as large as they like, so deleting the oldest would let a
//! user push out what should not be found. When there is too much:
//!
//! 1. The oldest batches are thinned: what was allowed goes, what was denied stays.
//! 2. What is left of thinned batches may take [`SHARE`] of the room. Beyond it, those users lose their
//!    oldest denials who have most of them, so no user pushes out those of others.
//!
//! A batch keeps its place and its numbers: lines that are gone are empty.

use std::collections::{BTreeMap, HashSet};

use super::Decisions;
use super::retention::Pruned;
use crate::database::{Database, Value, lock_upkeep, number, one, transaction, unsigned};
use crate::error::Failure;

/// Denials may take one part in so many, when there is too much.
const SHARE: u64 = 2;

/// What remains of their room after some were deleted, so that it is rarely done: in eighths.
const REMAINING: u64 = 6;

/// Decisions deleted in one transaction, about.
const STEP: usize = 2000;

/// Users whose shares are counted.
const USERS: usize = 10_000;

/// What a denial takes beside its line, about.
const OVERHEAD: u64 = 512;

/// A user's denials.
struct Usage {
    user: String,
    bytes: u64,
}

impl Decisions {
    /// Takes everything but the denials out of a batch, within a transaction.
    pub(super) fn thin(
        &mut self,
        database: &mut dyn Database,
        first: i64,
        lines: i64,
    ) -> Result<Pruned, Failure> {
        let span = [Value::Number(first), Value::Number(first + lines)];
        let sql = "DELETE FROM decisions WHERE number >= ?1 AND number < ?2 AND verdict <> 'deny'";
        let deleted = database.execute(sql, &span)?;
        let is_gone = self.rewrite(database, first, deleted)?;
        if !is_gone {
            let sql = "UPDATE decision_batches SET thinned = 1, loose = 0 WHERE first = ?1";
            database.execute(sql, &[Value::Number(first)])?;
        }
        Ok(Pruned {
            decisions: deleted,
            batches: u64::from(is_gone),
        })
    }

    /// Deletes denials of those who have most, if denials take more than their share of a limit.
    pub(super) fn share_refusals(
        &mut self,
        database: &mut dyn Database,
        limit: u64,
        pruned: &mut Pruned,
    ) -> Result<(), Failure> {
        let share = limit / SHARE;
        let sql = "SELECT CAST(COALESCE(SUM(body_size + row_size), 0) AS BIGINT) \
                   FROM decision_batches WHERE thinned = 1";
        let taken = unsigned(one(database, sql, &[])?.number()?);
        if taken <= share {
            return Ok(());
        }
        let sql = "SELECT MIN(first) FROM decision_batches WHERE thinned = 0";
        let bound = one(database, sql, &[])?.optional_number()?;
        let bound = bound.unwrap_or(i64::MAX);
        let users = usages(database, bound)?;
        let all: u64 = users.iter().map(|usage| usage.bytes).sum();
        let excess = taken - share / 8 * REMAINING;
        // Lines are counted as they are before they are compressed.
        let excess = u128::from(excess) * u128::from(all) / u128::from(taken.max(1));
        let fair = fair_share(&users, u64::try_from(excess).unwrap_or(u64::MAX));
        for usage in users.iter().filter(|usage| usage.bytes > fair) {
            self.delete_oldest(database, usage, bound, usage.bytes - fair, pruned)?;
        }
        Ok(())
    }

    /// Deletes the oldest denials of a user in thinned batches, at least so many bytes.
    fn delete_oldest(
        &mut self,
        database: &mut dyn Database,
        usage: &Usage,
        bound: i64,
        mut excess: u64,
        pruned: &mut Pruned,
    ) -> Result<(), Failure> {
        let sql = format!(
            "SELECT number, size FROM decisions WHERE user_name = ?1 AND number < ?2 \
             AND verdict = 'deny' ORDER BY number LIMIT {STEP}"
        );
        while excess > 0 {
            let values = [Value::Text(&usage.user), Value::Number(bound)];
            let deleted = transaction(database, |database| {
                lock_upkeep(database)?;
                let mut numbers = Vec::new();
                for mut row in database.query(&sql, &values)? {
                    if excess == 0 {
                        break;
                    }
                    numbers.push(row.number()?);
                    excess = excess.saturating_sub(unsigned(row.number()?) + OVERHEAD);
                }
                self.delete_numbers(database, &numbers)
            })?;
            if deleted.decisions == 0 {
                break;
            }
            pruned.decisions += deleted.decisions;
            pruned.batches += deleted.batches;
        }
        Ok(())
    }

    fn delete_numbers(
        &mut self,
        database: &mut dyn Database,
        numbers: &[i64],
    ) -> Result<Pruned, Failure> {
        let mut batches: BTreeMap<i64, u64> = BTreeMap::new();
        let mut deleted = Pruned::default();
        for number in numbers {
            let value = [Value::Number(*number)];
            let sql = "DELETE FROM decisions WHERE number = ?1";
            let gone = database.execute(sql, &value)?;
            let sql = "SELECT MAX(first) FROM decision_batches WHERE first <= ?1";
            if let Some(first) = one(database, sql, &value)?.optional_number()? {
                *batches.entry(first).or_default() += gone;
            }
            deleted.decisions += gone;
        }
        for (first, gone) in batches {
            deleted.batches += u64::from(self.rewrite(database, first, gone)?);
        }
        Ok(deleted)
    }

    /// Empties the lines of a batch whose decisions are gone; deletes it if all are. Says whether it did.
    fn rewrite(
        &mut self,
        database: &mut dyn Database,
        first: i64,
        gone: u64,
    ) -> Result<bool, Failure> {
        let value = [Value::Number(first)];
        let sql = "SELECT lines, raw_size, row_size, removed, body FROM decision_batches \
                   WHERE first = ?1";
        let Some(mut row) = database.query(sql, &value)?.pop() else {
            return Ok(false);
        };
        let lines = row.number()?;
        let raw_size = row.number()?;
        let row_size = unsigned(row.number()?);
        let removed = row.number()?;
        let left = unsigned(lines - removed);
        if gone >= left {
            let sql = "DELETE FROM decision_batches WHERE first = ?1";
            return Ok(database.execute(sql, &value)? > 0);
        }
        if gone == 0 {
            return Ok(false);
        }
        let body = self.compressor.read(&row.blob()?, raw_size)?;
        let sql = "SELECT number FROM decisions WHERE number >= ?1 AND number < ?2";
        let span = [Value::Number(first), Value::Number(first + lines)];
        let mut kept = HashSet::new();
        for mut row in database.query(sql, &span)? {
            kept.insert(row.number()?);
        }
        let mut text = String::new();
        for (place, line) in (first..).zip(body.split_terminator('\n')) {
            if kept.contains(&place) {
                text.push_str(line);
            }
            text.push('\n');
        }
        let body = self.compressor.compress(text.as_bytes())?;
        let sql = "UPDATE decision_batches SET raw_size = ?2, body_size = ?3, row_size = ?4, \
                   removed = ?5, loose = 0, body = ?6 WHERE first = ?1";
        let values = [
            Value::Number(first),
            Value::Number(number(text.len())),
            Value::Number(number(body.len())),
            Value::Number(number(row_size / left.max(1) * (left - gone))),
            Value::Number(removed + number(gone)),
            Value::Blob(&body),
        ];
        database.execute(sql, &values)?;
        Ok(false)
    }
}

/// What the denials below a number take, by user, those with most first.
fn usages(database: &mut dyn Database, bound: i64) -> Result<Vec<Usage>, Failure> {
    let sql = format!(
        "SELECT user_name, CAST(SUM(size + {OVERHEAD}) AS BIGINT) FROM decisions \
         WHERE number < ?1 AND verdict = 'deny' GROUP BY user_name ORDER BY 2 DESC LIMIT {USERS}"
    );
    let mut users = Vec::new();
    for mut row in database.query(&sql, &[Value::Number(bound)])? {
        users.push(Usage {
            user: row.text()?,
            bytes: unsigned(row.number()?),
        });
    }
    Ok(users)
}

/// What everybody may keep, so that what is above it is as much as has to go.
fn fair_share(users: &[Usage], excess: u64) -> u64 {
    let mut above: u64 = 0;
    for (count, usage) in (1..).zip(users) {
        above = above.saturating_add(usage.bytes);
        let next = users.get(count).map_or(0, |next| next.bytes);
        // With these above it, and no others.
        let share = above.saturating_sub(excess) / count as u64;
        if share >= next {
            return share;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(bytes: &[u64], excess: u64) -> u64 {
        let usage = |bytes: &u64| Usage {
            user: String::new(),
            bytes: *bytes,
        };
        let users: Vec<Usage> = bytes.iter().map(usage).collect();
        fair_share(&users, excess)
    }

    #[test]
    fn those_with_most_give_most() {
        assert_eq!(share(&[100, 10, 1], 50), 50);
        assert_eq!(share(&[100, 90, 1], 50), 70);
        assert_eq!(share(&[10, 10, 10], 6), 8);
        assert_eq!(share(&[10, 10], 100), 0);
        assert_eq!(share(&[], 5), 0);
    }
}
