//! Deleting what is too old: whole days of the archive, and of what runners sent.

use portcullis_jobs::Timestamp;

use super::archive::{daily_tables, drop_before};
use super::day::Day;
use super::error::JobsError;
use super::transaction::JobsTransaction;
use crate::database::{Database, Value, number};
use crate::error::Failure;

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExpiredJobs {
    /// Days whose partitions were dropped.
    pub days: u64,
    /// Rows, where there are no partitions.
    pub rows: u64,
}

impl ExpiredJobs {
    /// Whether nothing was deleted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl JobsTransaction<'_> {
    /// Deletes from the archive what finished before the day of a time: on PostgreSQL the partitions of one day, else
    /// at most `limit` rows of each table. All is deleted once a step deletes nothing.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or someone reads the archive for long.
    pub fn expire_archived(
        &mut self,
        before: Timestamp,
        limit: usize,
    ) -> Result<ExpiredJobs, JobsError> {
        let bound = Day::of(before);
        self.with(|database| match database.dialect().has_partitions {
            true => {
                let days = drop_before(database, bound)?.into();
                Ok(ExpiredJobs { days, rows: 0 })
            }
            false => {
                let rows = delete_before(database, bound, limit)?;
                Ok(ExpiredJobs { days: 0, rows })
            }
        })
    }
}

fn delete_before(database: &mut dyn Database, bound: Day, limit: usize) -> Result<u64, Failure> {
    let mut deleted = 0;
    let values = [Value::Number(bound.0), Value::Number(number(limit))];
    for table in daily_tables() {
        let sql = format!(
            "DELETE FROM {table} WHERE rowid IN \
             (SELECT rowid FROM {table} WHERE day < ?1 LIMIT ?2)"
        );
        deleted += database.execute(&sql, &values)?;
    }
    Ok(deleted)
}
