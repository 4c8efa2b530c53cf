//! Numbers for metrics, from indexes of what is live: finished jobs are not looked at.

use portcullis_jobs::JobStatus;

use super::error::JobsError;
use super::transaction::JobsReader;
use crate::database::{Value, one, unsigned};

impl JobsReader<'_> {
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
