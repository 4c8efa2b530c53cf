//! What operations work on: a reader, and a transaction that can also write.

use std::fmt;
use std::ops::{Deref, DerefMut};

use portcullis_core::vocabulary;

use super::error::JobsError;
use crate::database::{Database, unsigned};
use crate::error::Failure;
use crate::location::Location;

vocabulary! {
    /// What has ids of its own.
    pub enum IdKind {
        /// Pipelines.
        Pipeline = "pipelines",
        /// Jobs.
        Job = "jobs",
        /// Controllers.
        Controller = "controllers",
        /// Deliveries.
        Delivery = "deliveries",
        /// Runners.
        Runner = "runners",
        /// Exemptions.
        Exemption = "exemptions",
    }
}

/// Reads jobs and what belongs to them.
pub struct JobsReader<'a> {
    database: &'a mut dyn Database,
    location: &'a Location,
    /// What went wrong first. After that nothing of the operation may stay, whatever it returns.
    failure: Option<Failure>,
}

impl fmt::Debug for JobsReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobsReader({})", self.location)
    }
}

impl<'a> JobsReader<'a> {
    pub(super) fn new(database: &'a mut dyn Database, location: &'a Location) -> Self {
        Self {
            database,
            location,
            failure: None,
        }
    }

    pub(super) fn with<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Database) -> Result<T, Failure>,
    ) -> Result<T, JobsError> {
        work(self.database).map_err(|failure| {
            self.failure.get_or_insert_with(|| failure.clone());
            JobsError::at(self.location, failure)
        })
    }
}

/// Reads and writes jobs and what belongs to them. All of it takes effect, or nothing.
#[derive(Debug)]
pub struct JobsTransaction<'a>(JobsReader<'a>);

impl<'a> JobsTransaction<'a> {
    pub(super) fn new(database: &'a mut dyn Database, location: &'a Location) -> Self {
        Self(JobsReader::new(database, location))
    }

    /// What went wrong, if anything did.
    pub(super) fn into_failure(self) -> Option<Failure> {
        self.0.failure
    }

    /// A new id. None is given twice, also after what had it is deleted.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn new_id(&mut self, kind: IdKind) -> Result<u64, JobsError> {
        self.with(|database| match database.new_ids(kind.as_str(), 1)?.pop() {
            Some(id) => Ok(unsigned(id)),
            None => Err(Failure::corrupt("there are no ids")),
        })
    }

    /// So many new ids.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn new_ids(&mut self, kind: IdKind, count: usize) -> Result<Vec<u64>, JobsError> {
        let ids = self.with(|database| database.new_ids(kind.as_str(), count))?;
        Ok(ids.into_iter().map(unsigned).collect())
    }
}

impl<'a> Deref for JobsTransaction<'a> {
    type Target = JobsReader<'a>;

    fn deref(&self) -> &JobsReader<'a> {
        &self.0
    }
}

impl<'a> DerefMut for JobsTransaction<'a> {
    fn deref_mut(&mut self) -> &mut JobsReader<'a> {
        &mut self.0
    }
}
