//! Deleting what finished long ago, with everything that belongs to it, in small steps.

use portcullis_jobs::Timestamp;

use super::column;
use super::error::JobsError;
use super::transaction::JobsTransaction;
use crate::database::{Database, Value, number};
use crate::error::Failure;

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeletedJobs {
    /// Jobs.
    pub jobs: u64,
    /// Pipelines.
    pub pipelines: u64,
}

impl JobsTransaction<'_> {
    /// Deletes jobs and pipelines that finished before a time: at most `limit` jobs and as many pipelines. Jobs of a
    /// pipeline are deleted when the whole pipeline has finished. What others are changing is left for the next
    /// step; all is deleted once a step deletes nothing.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delete_finished(
        &mut self,
        before: Timestamp,
        limit: usize,
    ) -> Result<DeletedJobs, JobsError> {
        self.with(|database| {
            let mut deleted = DeletedJobs::default();
            let sql = "SELECT root, id FROM jobs WHERE live = 0 AND pipeline IS NULL \
                       AND finished_at < ?1 ORDER BY finished_at LIMIT ?2";
            let single = keys(database, sql, &[column::time(before)], limit)?;
            for (root, id) in &single {
                delete_job(database, root, *id)?;
            }
            deleted.jobs += single.len() as u64;
            let sql = "SELECT root, id FROM pipelines WHERE live = 0 AND finished_at < ?1 \
                       ORDER BY finished_at LIMIT ?2";
            for (root, pipeline) in keys(database, sql, &[column::time(before)], limit)? {
                let left = limit.saturating_sub(usize::try_from(deleted.jobs).unwrap_or(limit));
                let (jobs, is_gone) = delete_pipeline(database, &root, pipeline, left)?;
                deleted.jobs += jobs;
                deleted.pipelines += u64::from(is_gone);
                if !is_gone {
                    break;
                }
            }
            Ok(deleted)
        })
    }
}

/// Deletes so many jobs of a pipeline, and the pipeline if none is left.
fn delete_pipeline(
    database: &mut dyn Database,
    root: &str,
    pipeline: i64,
    limit: usize,
) -> Result<(u64, bool), Failure> {
    // One more than may be deleted: then the pipeline has to stay.
    let sql = "SELECT root, id FROM jobs WHERE root = ?1 AND pipeline = ?3 ORDER BY id LIMIT ?2";
    let values = [Value::Text(root), Value::Number(pipeline)];
    let lock = database.dialect().for_update;
    let jobs = locked(database, sql, lock, &values, limit.saturating_add(1))?;
    for (root, id) in jobs.iter().take(limit) {
        delete_job(database, root, *id)?;
    }
    let deleted = jobs.len().min(limit) as u64;
    if jobs.len() > limit {
        return Ok((deleted, false));
    }
    let sql = "DELETE FROM pipelines WHERE root = ?1 AND id = ?2";
    database.execute(sql, &values)?;
    Ok((deleted, true))
}

fn delete_job(database: &mut dyn Database, root: &str, id: i64) -> Result<(), Failure> {
    for sql in [
        "DELETE FROM deliveries WHERE root = ?1 AND job = ?2",
        "DELETE FROM admission_decisions WHERE root = ?1 AND job = ?2",
        "DELETE FROM pending_jobs WHERE root = ?1 AND job = ?2",
        "DELETE FROM jobs WHERE root = ?1 AND id = ?2",
    ] {
        database.execute(sql, &[Value::Text(root), Value::Number(id)])?;
    }
    Ok(())
}

/// The keys of rows that no one else is changing, and that no one else changes from now on.
fn keys(
    database: &mut dyn Database,
    sql: &str,
    values: &[Value<'_>],
    limit: usize,
) -> Result<Vec<(String, i64)>, Failure> {
    let lock = database.dialect().skip_locked;
    locked(database, sql, lock, values, limit)
}

/// The limit is the second value.
fn locked(
    database: &mut dyn Database,
    sql: &str,
    lock: &str,
    values: &[Value<'_>],
    limit: usize,
) -> Result<Vec<(String, i64)>, Failure> {
    let mut values = values.to_vec();
    values.insert(1, Value::Number(number(limit)));
    let rows = database.query(&format!("{sql}{lock}"), &values)?;
    rows.into_iter()
        .map(|mut row| Ok((row.text()?, row.number()?)))
        .collect()
}
