//! Numbers for metrics, from indexes of what is live: finished jobs are not looked at.

use portcullis_jobs::JobStatus;

use super::column;
use super::error::JobsError;
use super::transaction::JobsReader;
use crate::database::{Value, number, one, unsigned};

impl JobsReader<'_> {
    /// How many jobs of a project have this status; at most so many are counted.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn count_jobs(
        &mut self,
        project: &str,
        status: JobStatus,
        most: usize,
    ) -> Result<usize, JobsError> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE root = ?1 AND project = ?2 \
                   AND status = ?3 LIMIT ?4) AS found";
        let values = [
            Value::Text(column::root(project)),
            Value::Text(project),
            Value::Text(status.as_str()),
            Value::Number(number(most)),
        ];
        let count = self.with(|database| one(database, sql, &values)?.number())?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// How many jobs there are of each status that isn't finished.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn live_job_counts(&mut self) -> Result<Vec<(JobStatus, u64)>, JobsError> {
        let live = JobStatus::ALL.into_iter();
        live.filter(|status| !status.is_finished())
            .map(|status| {
                let sql = "SELECT COUNT(*) FROM jobs WHERE status = ?1";
                let values = [Value::Text(status.as_str())];
                let count = self.with(|database| one(database, sql, &values)?.number())?;
                Ok((status, unsigned(count)))
            })
            .collect()
    }
}
