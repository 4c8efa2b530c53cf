//! The version of what surrounds jobs: controllers, runners and exemptions.
//!
//! Every change of them raises it in the same transaction. So what was read with a version is still true in a
//! transaction that finds the same one.

use super::error::JobsError;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, one, unsigned};
use crate::error::Failure;

impl JobsReader<'_> {
    /// The version of controllers, runners and exemptions.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn surroundings_version(&mut self) -> Result<u64, JobsError> {
        self.apart(read)
    }
}

impl JobsTransaction<'_> {
    /// The version of controllers, runners and exemptions in this transaction; nothing if it has changed them itself.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn current_surroundings(&mut self) -> Result<Option<u64>, JobsError> {
        if self.changes_surroundings() {
            return Ok(None);
        }
        if let Some(known) = self.unit().and_then(|unit| unit.surroundings) {
            return Ok(Some(known));
        }
        let version = self.apart(read)?;
        self.gather(|unit| unit.surroundings = Some(version));
        Ok(Some(version))
    }

    /// Whether controllers, runners or exemptions were changed in this transaction.
    pub fn changes_surroundings(&self) -> bool {
        self.unit().is_some_and(|unit| unit.changes_surroundings)
    }

    /// Controllers, runners or exemptions are changed in this transaction.
    pub(super) fn surroundings_change(&mut self) -> Result<(), JobsError> {
        self.gather(|unit| unit.changes_surroundings = true);
        self.write_apart(raise)
    }
}

/// Raises the version.
pub(super) fn raise(database: &mut dyn Database) -> Result<(), Failure> {
    let sql = "UPDATE counters SET value = value + 1 WHERE name = 'surroundings'";
    database.execute(sql, &[]).map(drop)
}

fn read(database: &mut dyn Database) -> Result<u64, Failure> {
    let sql = "SELECT value FROM counters WHERE name = 'surroundings'";
    Ok(unsigned(one(database, sql, &[])?.number()?))
}
