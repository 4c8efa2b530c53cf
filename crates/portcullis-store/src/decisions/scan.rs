//! Reading full lines from the oldest to the newest, batch by batch.
//!
//! Batches may be merged or deleted between two steps. So a step asks for what holds a number, never
//! for a batch it saw before.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::Decisions;
use super::filter::Filter;
use crate::database::{Database, Value};
use crate::error::Failure;

/// Batches looked at in one step.
const STEP: usize = 64;

/// The numbers a batch holds.
struct Span {
    first: i64,
    /// The number after its last.
    end: i64,
}

impl Decisions {
    /// Gives all lines that match, in the order in which they were stored, until `each` breaks.
    pub(crate) fn scan(
        &mut self,
        database: &mut dyn Database,
        filter: &Filter,
        each: &mut dyn FnMut(Vec<String>) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let (lowest, highest) = filter.id_range();
        let mut next = beginning(database, lowest.as_deref())?;
        loop {
            let spans = spans(database, next, lowest.as_deref(), highest.as_deref())?;
            let last = spans.len() < STEP;
            for span in spans {
                let lines = self.matching(database, filter, span.first.max(next), span.end)?;
                next = span.end;
                if !lines.is_empty() && each(lines).is_break() {
                    return Ok(());
                }
            }
            if last {
                return Ok(());
            }
        }
    }

    /// The lines of these numbers that match.
    fn matching(
        &mut self,
        database: &mut dyn Database,
        filter: &Filter,
        from: i64,
        end: i64,
    ) -> Result<Vec<String>, Failure> {
        let mut conditions = filter.conditions();
        let wanted = if conditions.is_empty() {
            None
        } else {
            conditions.number("number >= ?", from);
            conditions.number("number < ?", end);
            let sql = format!("SELECT number FROM decisions {}", conditions.sql());
            let mut numbers = HashSet::new();
            for mut row in database.query(&sql, &conditions.values())? {
                numbers.insert(row.number()?);
            }
            if numbers.is_empty() {
                return Ok(Vec::new());
            }
            Some(numbers)
        };
        let sql = "SELECT first, raw_size, body FROM decision_batches \
                   WHERE first = (SELECT MAX(first) FROM decision_batches WHERE first <= ?1) \
                   AND first + lines > ?1";
        let Some(mut row) = database.query(sql, &[Value::Number(from)])?.pop() else {
            // Deleted meanwhile.
            return Ok(Vec::new());
        };
        let first = row.number()?;
        let raw_size = row.number()?;
        let lines = self.compressor.read(&row.blob()?, raw_size)?;
        let numbered = (first..).zip(lines.split_terminator('\n'));
        let these = numbered.filter(|(number, _)| (from..end).contains(number));
        // What is gone left an empty line.
        let these = these.filter(|(_, line)| !line.is_empty());
        let wanted = these
            .filter(|(number, _)| wanted.as_ref().is_none_or(|wanted| wanted.contains(number)));
        Ok(wanted.map(|(_, line)| line.to_owned()).collect())
    }
}

/// The first number that can match.
fn beginning(database: &mut dyn Database, lowest: Option<&str>) -> Result<i64, Failure> {
    let Some(lowest) = lowest else {
        return Ok(0);
    };
    let sql = "SELECT MIN(first) FROM decision_batches WHERE newest_id >= ?1";
    let mut rows = database.query(sql, &[Value::Text(lowest)])?;
    let first = rows.pop().map(|mut row| row.optional_number());
    Ok(first.transpose()?.flatten().unwrap_or(i64::MAX))
}

/// The next batches that can hold something.
fn spans(
    database: &mut dyn Database,
    next: i64,
    lowest: Option<&str>,
    highest: Option<&str>,
) -> Result<Vec<Span>, Failure> {
    if next == i64::MAX {
        return Ok(Vec::new());
    }
    // `|| ''` keeps both databases from walking the index of ages instead of the order asked for.
    let sql = format!(
        "SELECT first, first + lines FROM decision_batches \
         WHERE first >= COALESCE((SELECT MAX(first) FROM decision_batches WHERE first <= ?1), 0) \
         AND first + lines > ?1 AND newest_id || '' >= ?2 AND oldest_id < ?3 \
         ORDER BY first LIMIT {STEP}"
    );
    let values = [
        Value::Number(next),
        Value::Text(lowest.unwrap_or("")),
        // Behind every id.
        Value::Text(highest.unwrap_or("\u{10ffff}")),
    ];
    let mut spans = Vec::new();
    for mut row in database.query(&sql, &values)? {
        spans.push(Span {
            first: row.number()?,
            end: row.number()?,
        });
    }
    Ok(spans)
}
