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
        let mut slot = Slot::new(work);
        let error = run_alone(self.parts(), &mut slot);
        slot.into_result(error)
    }

    /// Reads jobs in a transaction that only reads: all calls of the reader see the same state. Writers are not held
    /// up.
    ///
    /// # Errors
    ///
    /// What `work` returns; when the database doesn't answer.
    pub fn read_jobs<T, E: From<JobsError>>(
        &mut self,
        work: impl FnOnce(&mut JobsReader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (location, database, _) = self.parts();
        let begun = database.begin_reading();
        begun.map_err(|failure| JobsError::at(location, failure))?;
        let result = work(&mut JobsReader::new(database, location));
        // There is nothing to keep, so it doesn't matter how it ends.
        database.roll_back();
        result
    }
}
