//! Moving back what is to be changed again.
//!
//! Whoever moves something back locks its pipeline in the archive first, or a job on its own. Of several who do so at
//! once, the others wait, and then find it where it was before.

use portcullis_jobs::{JobId, PipelineId};

use super::moving::{Load, condition};
use super::part::PARTS;
use crate::database::{Database, Row, Value};
use crate::error::{Failure, Kind};
use crate::jobs::column;
use crate::jobs::day::Day;

/// How often something may move while it is looked for.
const TRIES: usize = 10;

/// Locks one thing in its table.
type Lock<T> = fn(&mut dyn Database, u64) -> Result<Option<T>, Failure>;

/// Locks a job where it is in use; moves it back before, if it is in the archive.
pub(in crate::jobs) fn lock_job<T>(
    database: &mut dyn Database,
    id: JobId,
    lock: Lock<T>,
) -> Result<Option<T>, Failure> {
    lock_in_use(database, "jobs", id, lock, restore_job)
}

/// Locks a pipeline where it is in use; moves it back before, if it is in the archive.
pub(in crate::jobs) fn lock_pipeline<T>(
    database: &mut dyn Database,
    id: PipelineId,
    lock: Lock<T>,
) -> Result<Option<T>, Failure> {
    lock_in_use(database, "pipelines", id, lock, restore_pipeline)
}

fn lock_in_use<T>(
    database: &mut dyn Database,
    table: &str,
    id: u64,
    lock: Lock<T>,
    restore: fn(&mut dyn Database, u64) -> Result<bool, Failure>,
) -> Result<Option<T>, Failure> {
    for _ in 0..TRIES {
        if let Some(found) = lock(database, id)? {
            return Ok(Some(found));
        }
        if restore(database, id)? {
            continue;
        }
        // It was moved back between both queries, or there is none. One statement can't miss what moves.
        let sql = format!(
            "SELECT id FROM {table} WHERE id = ?1 UNION ALL \
             SELECT id FROM archived_{table} WHERE id = ?1"
        );
        if database.query(&sql, &[column::id(id)])?.is_empty() {
            return Ok(None);
        }
    }
    Err(Failure::new(Kind::Conflict, "it is moved all the time"))
}

/// Moves a job back, with its whole pipeline. Says whether the archive had it: then it is back, whoever moved it.
fn restore_job(database: &mut dyn Database, job: JobId) -> Result<bool, Failure> {
    let sql = "SELECT root, day, pipeline FROM archived_jobs WHERE id = ?1";
    let Some(mut row) = database.query(sql, &[column::id(job)])?.pop() else {
        return Ok(false);
    };
    let (root, day) = root_and_day(&mut row)?;
    match row.optional_number()? {
        Some(pipeline) => restore(database, &root, day, pipeline)?,
        None => restore_single(database, &root, day, job)?,
    }
    Ok(true)
}

/// Moves a pipeline back, with its jobs. Says whether the archive had it: then it is back, whoever moved it.
fn restore_pipeline(database: &mut dyn Database, pipeline: PipelineId) -> Result<bool, Failure> {
    let sql = "SELECT root, day, id FROM archived_pipelines WHERE id = ?1";
    let Some(mut row) = database.query(sql, &[column::id(pipeline)])?.pop() else {
        return Ok(false);
    };
    let (root, day) = root_and_day(&mut row)?;
    let pipeline = row.number()?;
    restore(database, &root, day, pipeline)?;
    Ok(true)
}

fn root_and_day(row: &mut Row) -> Result<(String, Day), Failure> {
    Ok((row.text()?, Day(row.number()?)))
}

fn restore(
    database: &mut dyn Database,
    root: &str,
    day: Day,
    pipeline: i64,
) -> Result<(), Failure> {
    let key = [
        Value::Text(root),
        Value::Number(pipeline),
        Value::Number(day.0),
    ];
    if !lock(database, "archived_pipelines", &key)? {
        return Ok(());
    }
    let sql = "SELECT id FROM archived_jobs WHERE root = ?1 AND pipeline = ?2 AND day = ?3";
    let mut load = Load {
        pipelines: vec![pipeline],
        jobs: Vec::new(),
    };
    for mut row in database.query(sql, &key)? {
        load.jobs.push(row.number()?);
    }
    bring_back(database, day, root, &load)
}

fn restore_single(
    database: &mut dyn Database,
    root: &str,
    day: Day,
    job: JobId,
) -> Result<(), Failure> {
    let job = crate::database::number(job);
    let key = [Value::Text(root), Value::Number(job), Value::Number(day.0)];
    if !lock(database, "archived_jobs", &key)? {
        return Ok(());
    }
    let load = Load {
        pipelines: Vec::new(),
        jobs: vec![job],
    };
    bring_back(database, day, root, &load)
}

/// Locks a row of the archive; says whether it is still there.
fn lock(database: &mut dyn Database, table: &str, key: &[Value<'_>]) -> Result<bool, Failure> {
    let for_update = database.dialect().for_update;
    let sql =
        format!("SELECT id FROM {table} WHERE root = ?1 AND id = ?2 AND day = ?3{for_update}");
    Ok(!database.query(&sql, key)?.is_empty())
}

fn bring_back(
    database: &mut dyn Database,
    day: Day,
    root: &str,
    load: &Load,
) -> Result<(), Failure> {
    for part in PARTS {
        let Some((condition, mut values)) = condition(root, part.key, load) else {
            continue;
        };
        values.push(Value::Number(day.0));
        let (table, columns, archived) = (part.table, part.columns, part.archived());
        let condition = format!("{condition} AND day = ?{}", values.len());
        let insert = format!(
            "INSERT INTO {table} ({columns}) SELECT {columns} FROM {archived} WHERE {condition}"
        );
        database.execute(&insert, &values)?;
        database.execute(
            &format!("DELETE FROM {archived} WHERE {condition}"),
            &values,
        )?;
    }
    Ok(())
}
