//! What operations work on: a reader, and a transaction that can also write.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use portcullis_core::vocabulary;
use portcullis_record::Written;

use super::error::JobsError;
use super::unit::{PreparedJobs, Unit};
use crate::database::{Database, unsigned};
use crate::error::{Failure, Kind};
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
        /// Projects.
        Project = "projects",
    }
}

/// Reads jobs and what belongs to them.
pub struct JobsReader<'a> {
    source: Source<'a>,
    /// What went wrong first. After that nothing of the operation may stay, whatever it returns.
    failure: Option<Failure>,
    /// What is not written yet; only in transactions.
    unit: Option<&'a mut Unit>,
}

/// Where rows come from.
enum Source<'a> {
    Database(&'a mut dyn Database, &'a Location),
    /// From nowhere: see [`JobsDraft`](super::draft::JobsDraft).
    Draft,
}

impl fmt::Debug for JobsReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Database(_, location) => write!(f, "JobsReader({location})"),
            Source::Draft => write!(f, "JobsReader(draft)"),
        }
    }
}

impl<'a> JobsReader<'a> {
    pub(super) fn new(database: &'a mut dyn Database, location: &'a Location) -> Self {
        Self {
            source: Source::Database(database, location),
            failure: None,
            unit: None,
        }
    }

    /// Runs statements. What is not written yet is written before.
    pub(super) fn with<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Database) -> Result<T, Failure>,
    ) -> Result<T, JobsError> {
        self.run(|unit, database| {
            if let Some(unit) = unit {
                unit.settle(database)?;
            }
            work(database)
        })
    }

    /// Runs statements that only read, and whose answers don't depend on what is not written yet.
    pub(super) fn apart<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Database) -> Result<T, Failure>,
    ) -> Result<T, JobsError> {
        self.run(|_, database| work(database))
    }

    fn run<T>(
        &mut self,
        work: impl FnOnce(Option<&mut Unit>, &mut dyn Database) -> Result<T, Failure>,
    ) -> Result<T, JobsError> {
        let Source::Database(database, location) = &mut self.source else {
            let failure = Failure::new(Kind::Other, "a draft has no database");
            self.failure.get_or_insert(failure);
            return Err(JobsError::Draft);
        };
        work(self.unit.as_deref_mut(), *database).map_err(|failure| {
            self.failure.get_or_insert_with(|| failure.clone());
            JobsError::at(location, failure)
        })
    }

    /// What is not written yet.
    pub(super) fn unit(&self) -> Option<&Unit> {
        self.unit.as_deref()
    }
}

/// Reads and writes jobs and what belongs to them. All of it takes effect, or nothing.
#[derive(Debug)]
pub struct JobsTransaction<'a>(JobsReader<'a>);

impl<'a> JobsTransaction<'a> {
    pub(super) fn new(
        database: &'a mut dyn Database,
        location: &'a Location,
        unit: &'a mut Unit,
    ) -> Self {
        Self(JobsReader {
            unit: Some(unit),
            ..JobsReader::new(database, location)
        })
    }

    /// One that has no database.
    pub(super) fn draft(unit: &'a mut Unit) -> Self {
        Self(JobsReader {
            source: Source::Draft,
            failure: None,
            unit: Some(unit),
        })
    }

    /// What went wrong, if anything did.
    pub(super) fn into_failure(self) -> Option<Failure> {
        self.0.failure
    }

    /// Changes what is not written yet. There always is such a thing in a transaction.
    pub(super) fn gather<T: Default>(&mut self, work: impl FnOnce(&mut Unit) -> T) -> T {
        let unit = self.0.unit.as_deref_mut();
        unit.map(work).unwrap_or_default()
    }

    /// The same, where making rows may fail.
    pub(super) fn stage(
        &mut self,
        work: impl FnOnce(&mut Unit) -> Result<(), Failure>,
    ) -> Result<(), JobsError> {
        let staged = self.0.unit.as_deref_mut().map_or(Ok(()), work);
        staged.map_err(|failure| {
            self.0.failure.get_or_insert_with(|| failure.clone());
            match &self.0.source {
                Source::Database(_, location) => JobsError::at(location, failure),
                Source::Draft => JobsError::Draft,
            }
        })
    }

    /// Runs statements that write, and have nothing to do with what is not written yet.
    pub(super) fn write_apart<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Database) -> Result<T, Failure>,
    ) -> Result<T, JobsError> {
        self.0.run(|unit, database| {
            if let Some(unit) = unit {
                unit.about_to_write(database)?;
            }
            work(database)
        })
    }

    /// A new id. None is given twice, also after what had it is deleted.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn new_id(&mut self, kind: IdKind) -> Result<u64, JobsError> {
        let ready = self.gather(|unit| unit.ids.get_mut(&kind).and_then(Vec::pop));
        if let Some(id) = ready {
            return Ok(id);
        }
        let count = self.gather(|unit| unit.ids_at_once).max(1);
        // In the order in which they are taken out.
        let mut ids = self.take_ids(kind, count)?;
        ids.reverse();
        let id = ids.pop();
        self.gather(|unit| {
            unit.ids.insert(kind, ids);
        });
        id.ok_or(JobsError::Stopped)
    }

    /// So many new ids.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn new_ids(&mut self, kind: IdKind, count: usize) -> Result<Vec<u64>, JobsError> {
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count {
            let ready = self.gather(|unit| unit.ids.get_mut(&kind).and_then(Vec::pop));
            match ready {
                Some(id) => ids.push(id),
                None => ids.extend(self.take_ids(kind, count - ids.len())?),
            }
        }
        Ok(ids)
    }

    fn take_ids(&mut self, kind: IdKind, count: usize) -> Result<Vec<u64>, JobsError> {
        // They stay taken if the operation is undone, unless it has written before: then all are forgotten.
        let ids = self.apart(|database| database.new_ids(kind.as_str(), count))?;
        Ok(ids.into_iter().map(unsigned).collect())
    }

    /// Writes what was made ready in a draft.
    pub fn adopt(&mut self, prepared: &Arc<PreparedJobs>) {
        self.gather(|unit| unit.own.adopt(Arc::clone(prepared)));
    }

    /// Appends the record of a decision to the decision log, if the transaction is committed.
    pub fn append_record(&mut self, record: Written) {
        self.gather(|unit| unit.own.rest.records.push(record));
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
