//! Operations that are done in memory first.
//!
//! A submission needs nothing of the database but ids and what surrounds its job, which is known. So what happens to
//! it until somebody outside has to answer is worked out where many processors can, and written in one go.

use super::error::JobsError;
use super::record::IdKind;
use super::transaction::JobsTransaction;
use super::unit::{Ids, PreparedJobs, Unit};

/// Operations on jobs in memory: they may insert, and load and save what they inserted. Whatever else they need is
/// [`JobsError::Draft`], and has to be done with a database.
#[derive(Debug)]
pub struct JobsDraft {
    unit: Unit,
    needs_database: bool,
}

impl JobsDraft {
    /// One that has these ids to give.
    pub fn new(ids: impl IntoIterator<Item = (IdKind, Vec<u64>)>) -> Self {
        let mut unit = Unit::new(false);
        for (kind, mut ids) in ids {
            // In the order in which they are taken out.
            ids.reverse();
            unit.ids.insert(kind, ids);
        }
        Self {
            unit,
            needs_database: false,
        }
    }

    /// Runs an operation. After an error the draft is to be given up.
    ///
    /// # Errors
    ///
    /// What the operation returns; [`JobsError::Draft`] when it needs a database.
    pub fn run<T, E: From<JobsError>>(
        &mut self,
        work: impl FnOnce(&mut JobsTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut transaction = JobsTransaction::draft(&mut self.unit);
        let done = work(&mut transaction);
        self.needs_database = transaction.into_failure().is_some();
        match self.needs_database {
            false => done,
            true => Err(JobsError::Draft.into()),
        }
    }

    /// Whether the last operation needed a database, and didn't fail for a reason of its own.
    pub fn needs_database(&self) -> bool {
        self.needs_database
    }

    /// Everything as rows, for [`JobsTransaction::adopt`], and the ids that were not used.
    ///
    /// # Errors
    ///
    /// When something can't be stored.
    pub fn prepare(mut self) -> Result<(PreparedJobs, Ids), JobsError> {
        let staged = std::mem::take(&mut self.unit.own);
        let prepared = staged.into_prepared().map_err(|_| JobsError::Draft)?;
        Ok((prepared, self.unit.ids))
    }
}
