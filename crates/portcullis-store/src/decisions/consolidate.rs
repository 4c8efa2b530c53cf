//! Merging small batches, which compress badly, into bigger ones.
//!
//! Decisions that come one by one make batches of one line. What their lines have in common is stored
//! once only when they are in one batch. A merged batch holds the same numbers as its parts did, so
//! readers and followers see no difference, and no row of a decision changes.

use std::time::{Duration, SystemTime};

use super::append::{Head, insert_batch};
use super::body::RAW_LIMIT;
use super::{Decisions, ulid};
use crate::database::{Database, Value, lock_upkeep, number, transaction};
use crate::error::Failure;

/// Younger ones are left alone.
const AGE: Duration = Duration::from_secs(60);

/// A merged batch has at most this many lines.
const LINES: i64 = 256;

/// A merged batch spans no more time, so that its oldest doesn't outlive its retention by more.
const SPAN: Duration = Duration::from_secs(60 * 60);

/// Parts that are worth being merged before their merged batch is full.
const PARTS: usize = 16;

/// Loose batches looked at in one step.
const STEP: usize = 512;

/// A loose batch without its body.
#[derive(Debug, Clone)]
struct LooseBatch {
    first: i64,
    lines: i64,
    raw_size: i64,
    row_size: i64,
    oldest: String,
    newest: String,
}

/// Parts that become one.
#[derive(Debug, Default)]
struct Group {
    parts: Vec<LooseBatch>,
    lines: i64,
    raw_size: i64,
}

impl Group {
    /// Whether this part can follow.
    fn takes(&self, part: &LooseBatch) -> bool {
        let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) else {
            return true;
        };
        let oldest = self.parts.iter().map(|part| &part.oldest).min();
        let oldest = ulid::time(oldest.unwrap_or(&first.oldest).min(&part.oldest));
        let newest = self.parts.iter().map(|part| &part.newest).max();
        let newest = ulid::time(newest.unwrap_or(&last.newest).max(&part.newest));
        last.first + last.lines == part.first
            && self.lines + part.lines <= LINES
            && self.raw_size + part.raw_size <= number(RAW_LIMIT)
            && newest.duration_since(oldest).unwrap_or_default() <= SPAN
    }

    fn push(&mut self, part: LooseBatch) {
        self.lines += part.lines;
        self.raw_size += part.raw_size;
        self.parts.push(part);
    }
}

impl Decisions {
    /// Merges what is loose and older than a minute. Returns the number of batches that were merged away.
    pub(crate) fn consolidate(
        &mut self,
        database: &mut dyn Database,
        now: SystemTime,
    ) -> Result<u64, Failure> {
        let bound = ulid::lowest(now.checked_sub(AGE).unwrap_or(SystemTime::UNIX_EPOCH));
        let mut merged = 0;
        let mut next = 0;
        loop {
            let parts = loose(database, next)?;
            let last = parts.len() < STEP;
            let mut group = Group::default();
            let mut young = false;
            for part in parts {
                young = part.newest >= bound;
                if young {
                    break;
                }
                if !group.takes(&part) {
                    merged += self.merge(database, &std::mem::take(&mut group), true)?;
                }
                group.push(part);
            }
            if last || young {
                // The last ones may go on; they wait until there are enough of them.
                if group.parts.len() >= PARTS {
                    merged += self.merge(database, &group, false)?;
                }
                return Ok(merged);
            }
            // A step has more batches than a group, so this is further on.
            next = group.parts.first().map_or(i64::MAX, |part| part.first);
        }
    }

    /// Makes one batch of these; `full` when nothing more will be added.
    fn merge(
        &mut self,
        database: &mut dyn Database,
        group: &Group,
        full: bool,
    ) -> Result<u64, Failure> {
        let (Some(first), Some(last)) = (group.parts.first(), group.parts.last()) else {
            return Ok(0);
        };
        let end = last.first + last.lines;
        let span = [Value::Number(first.first), Value::Number(end)];
        transaction(database, |database| {
            lock_upkeep(database)?;
            let sql = "SELECT first, lines, raw_size, body FROM decision_batches \
                       WHERE first >= ?1 AND first < ?2 ORDER BY first";
            let mut lines = String::new();
            let mut found = Vec::new();
            for mut row in database.query(sql, &span)? {
                found.push((row.number()?, row.number()?));
                let raw_size = row.number()?;
                lines.push_str(&self.compressor.read(&row.blob()?, raw_size)?);
            }
            let parts = group.parts.iter().map(|part| (part.first, part.lines));
            if !parts.eq(found) {
                // Another connection merged or deleted some of them.
                return Ok(0);
            }
            if group.parts.len() == 1 {
                let sql = "UPDATE decision_batches SET loose = 0 WHERE first = ?1";
                database.execute(sql, &[Value::Number(first.first)])?;
                return Ok(0);
            }
            let delete = "DELETE FROM decision_batches WHERE first >= ?1 AND first < ?2";
            database.execute(delete, &span)?;
            let parts = &group.parts;
            let oldest = parts.iter().map(|part| &part.oldest).min();
            let newest = parts.iter().map(|part| &part.newest).max();
            let head = Head {
                first: first.first,
                lines: group.lines,
                oldest: oldest.unwrap_or(&first.oldest),
                newest: newest.unwrap_or(&last.newest),
                loose: !full,
                raw_size: number(lines.len()),
                row_size: parts.iter().map(|part| part.row_size).sum(),
            };
            let body = self.compressor.compress(lines.as_bytes())?;
            insert_batch(database, &head, &body)?;
            Ok(parts.len() as u64 - 1)
        })
    }
}

/// The next loose batches.
fn loose(database: &mut dyn Database, next: i64) -> Result<Vec<LooseBatch>, Failure> {
    let sql = format!(
        "SELECT first, lines, raw_size, row_size, oldest_id, newest_id FROM decision_batches \
         WHERE loose = 1 AND first >= ?1 ORDER BY first LIMIT {STEP}"
    );
    let mut parts = Vec::new();
    for mut row in database.query(&sql, &[Value::Number(next)])? {
        parts.push(LooseBatch {
            first: row.number()?,
            lines: row.number()?,
            raw_size: row.number()?,
            row_size: row.number()?,
            oldest: row.text()?,
            newest: row.text()?,
        });
    }
    Ok(parts)
}
