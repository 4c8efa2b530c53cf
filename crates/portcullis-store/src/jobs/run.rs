//! Operations on jobs, and reading them, with a store of one's own.

use super::error::JobsError;
use super::operation::{Slot, run_alone};
use super::transaction::{JobsReader, JobsTransaction};
use crate::store::Store;

impl Store {
    /// Runs one operation on jobs in a transaction of its own: if it returns an error, nothing of it takes effect.
    /// It runs again, a few times at most, if it got in the way of another transaction.
    ///
    /// # Errors
    ///
    /// What the operation returns; when the database doesn't answer, or was opened for reading alone.
    pub fn jobs<T, E: From<JobsError>>(
        &mut self,
        work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (location, database) = self.parts();
        let mut slot = Slot::new(work);
        let error = run_alone(database, location, &mut slot);
        slot.into_result(error)
    }

    /// Reads jobs without a transaction: each call of the reader sees what is committed by then. Writers are not
    /// held up.
    ///
    /// # Errors
    ///
    /// What `work` returns.
    pub fn read_jobs<T, E: From<JobsError>>(
        &mut self,
        work: impl FnOnce(&mut JobsReader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (location, database) = self.parts();
        work(&mut JobsReader::new(database, location))
    }
}
