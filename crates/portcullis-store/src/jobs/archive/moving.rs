//! Moving what finished some time ago into the archive, in small steps.

use std::collections::BTreeMap;

use portcullis_jobs::Timestamp;

use super::part::{Key, PARTS};
use super::partitions;
use crate::database::{Database, Value, number};
use crate::error::Failure;
use crate::jobs::column;
use crate::jobs::day::Day;
use crate::jobs::error::JobsError;
use crate::jobs::transaction::JobsTransaction;

/// What was moved into the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArchivedJobs {
    /// Jobs.
    pub jobs: u64,
    /// Pipelines.
    pub pipelines: u64,
}

impl ArchivedJobs {
    /// Whether nothing was moved.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What moves together: ids of one root and day.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) pipelines: Vec<i64>,
    pub(super) jobs: Vec<i64>,
}

impl JobsTransaction<'_> {
    /// Has the archive ready for what finishes now and on the next day.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn prepare_archive(&mut self, now: Timestamp) -> Result<(), JobsError> {
        let today = Day::of(now);
        self.with(|database| {
            partitions::ensure(database, today)?;
            partitions::ensure(database, today.next())
        })
    }

    /// Moves pipelines and jobs that finished before a time into the archive: at most `limit` jobs, unless one
    /// pipeline has more. Jobs of a pipeline move when the whole pipeline has finished. What others are changing is
    /// left for the next step; all is moved once a step moves nothing.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn archive_finished(
        &mut self,
        before: Timestamp,
        limit: usize,
    ) -> Result<ArchivedJobs, JobsError> {
        self.with(|database| {
            let mut archived = ArchivedJobs::default();
            let loads = claim(database, before, limit)?;
            for ((day, root), load) in &loads {
                partitions::ensure(database, *day)?;
                put_away(database, *day, root, load)?;
                archived.jobs += load.jobs.len() as u64;
                archived.pipelines += load.pipelines.len() as u64;
            }
            Ok(archived)
        })
    }
}

/// What is to be moved, by day and root. No one else changes it from now on.
fn claim(
    database: &mut dyn Database,
    before: Timestamp,
    limit: usize,
) -> Result<BTreeMap<(Day, String), Load>, Failure> {
    let mut loads: BTreeMap<(Day, String), Load> = BTreeMap::new();
    let mut count = 0;
    let skip_locked = database.dialect().skip_locked;
    let values = [column::time(before), Value::Number(number(limit))];
    let single = format!(
        "SELECT root, id, finished_at FROM jobs WHERE live = 0 AND pipeline IS NULL \
         AND finished_at < ?1 ORDER BY finished_at LIMIT ?2{skip_locked}"
    );
    for mut row in database.query(&single, &values)? {
        let (root, id) = (row.text()?, row.number()?);
        let day = Day::of_number(row.number()?);
        loads.entry((day, root)).or_default().jobs.push(id);
        count += 1;
    }
    let pipelines = format!(
        "SELECT root, id, finished_at FROM pipelines WHERE live = 0 AND finished_at < ?1 \
         ORDER BY finished_at LIMIT ?2{skip_locked}"
    );
    // The pipeline is locked, so no one begins to change its jobs; those who are at it are waited for.
    let lock = database.dialect().for_update;
    let jobs = format!("SELECT id FROM jobs WHERE root = ?1 AND pipeline = ?2 ORDER BY id{lock}");
    for mut row in database.query(&pipelines, &values)? {
        if count >= limit {
            break;
        }
        let (root, id) = (row.text()?, row.number()?);
        let day = Day::of_number(row.number()?);
        let found = database.query(&jobs, &[Value::Text(&root), Value::Number(id)])?;
        let load = loads.entry((day, root)).or_default();
        load.pipelines.push(id);
        count += found.len();
        for mut row in found {
            load.jobs.push(row.number()?);
        }
    }
    Ok(loads)
}

fn put_away(database: &mut dyn Database, day: Day, root: &str, load: &Load) -> Result<(), Failure> {
    for part in PARTS {
        let Some((condition, mut values)) = condition(root, part.key, load) else {
            continue;
        };
        values.push(Value::Number(day.0));
        let (table, columns, place) = (part.table, part.columns, values.len());
        let insert = format!(
            "INSERT INTO {} ({columns}, day) SELECT {columns}, CAST(?{place} AS BIGINT) \
             FROM {table} WHERE {condition}",
            part.archived()
        );
        database.execute(&insert, &values)?;
        values.pop();
        let delete = format!("DELETE FROM {table} WHERE {condition}");
        database.execute(&delete, &values)?;
    }
    Ok(())
}

/// The condition for rows that belong to what moves, with its values; nothing if there are none.
pub(super) fn condition<'a>(
    root: &'a str,
    key: Key,
    load: &Load,
) -> Option<(String, Vec<Value<'a>>)> {
    let (column, ids) = match key {
        Key::Pipelines(column) => (column, &load.pipelines),
        Key::Jobs(column) => (column, &load.jobs),
    };
    if ids.is_empty() {
        return None;
    }
    let marks: Vec<String> = (2..)
        .zip(ids)
        .map(|(place, _)| format!("?{place}"))
        .collect();
    let condition = format!("root = ?1 AND {column} IN ({})", marks.join(", "));
    let ids = ids.iter().copied().map(Value::Number);
    Some((
        condition,
        std::iter::once(Value::Text(root)).chain(ids).collect(),
    ))
}
