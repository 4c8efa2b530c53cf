//! Deleting expired holds, states and ended sessions.

use std::time::SystemTime;

use crate::database::{lock_upkeep, transaction};
use crate::error::StoreError;
use crate::store::Store;
use crate::{holds, sessions, states};

/// What was tidied up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Holds that are marked as expired now.
    pub holds_expired: u64,
    /// Holds that expired more than a day ago and are gone now.
    pub holds_deleted: u64,
    /// States that ended: their tenants are normal again.
    pub states_ended: u64,
    /// Ended sessions that would have ended by themselves and are forgotten now.
    pub sessions_deleted: u64,
}

impl Store {
    /// Marks holds past their end as expired, deletes those that expired more than 24 hours ago, and
    /// ends the states past their end. What is read doesn't depend on it, but for holds that are gone.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or was opened for reading alone. Then nothing is changed.
    pub fn sweep(&mut self, now: SystemTime) -> Result<Swept, StoreError> {
        self.with(|_, database| {
            transaction(database, |database| {
                lock_upkeep(database)?;
                let (holds_expired, holds_deleted) = holds::sweep(database, now)?;
                Ok(Swept {
                    holds_expired,
                    holds_deleted,
                    states_ended: states::sweep(database, now)?,
                    sessions_deleted: sessions::sweep(database, now)?,
                })
            })
        })
    }
}
