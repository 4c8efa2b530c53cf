//! Inserting and saving jobs, with their places in the queue.

use super::error::JobsError;
use super::record::JobRecord;
use super::rows::Rows;
use super::transaction::JobsTransaction;

impl JobsTransaction<'_> {
    /// Inserts a new job, and puts it into the queue if it is pending. That its id is taken is found at the end of the
    /// transaction.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn insert_job(&mut self, job: &mut JobRecord) -> Result<(), JobsError> {
        job.version = 1;
        job.stored_status = job.state.status;
        self.gather(|unit| unit.own.put_job(job.clone(), None));
        Ok(())
    }

    /// Saves a job that was loaded, and puts it into the queue or takes it out as its status says.
    ///
    /// # Errors
    ///
    /// [`JobsError::Stale`] when it was saved or deleted since it was loaded; when the database doesn't answer.
    pub fn save_job(&mut self, job: &mut JobRecord) -> Result<(), JobsError> {
        let (what, id) = ("job", job.id);
        let stored = job.stored();
        let version = stored.version;
        let known = self.unit().and_then(|unit| unit.known_version(id));
        if known.is_some_and(|known| known != version) {
            return Err(JobsError::Stale { what, id });
        }
        let saved = JobRecord {
            version: version + 1,
            stored_status: job.state.status,
            ..job.clone()
        };
        match known {
            Some(_) => self.gather(|unit| unit.save(&saved, stored)),
            // One that somebody else may have changed meanwhile.
            None => {
                self.gather(|unit| unit.ahead.forget_job(id));
                let is_saved = self.with(|database| {
                    let sql = "SELECT 1 FROM jobs WHERE root = ?1 AND id = ?2 AND version = ?3";
                    let key = [
                        crate::database::Value::Text(job.root()),
                        super::column::id(id),
                        super::column::id(version),
                    ];
                    let sql = format!("{sql}{}", database.dialect().for_update);
                    let is_there = !database.query(&sql, &key)?.is_empty();
                    if is_there {
                        let mut rows = Rows::default();
                        rows.save_job(&saved, stored)?;
                        Rows::write(&[&rows], database)?;
                    }
                    Ok(is_there)
                })?;
                if !is_saved {
                    return Err(JobsError::Stale { what, id });
                }
            }
        }
        *job = saved;
        Ok(())
    }
}
