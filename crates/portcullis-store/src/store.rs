//! The store as callers see it.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use portcullis_record::Summary;

use crate::database::{Database, Mode};
use crate::decisions::{
    Course, Decisions, Entry, Filter, Listed, Mark, Page, Pruned, Retention, Statistics, Tally,
};
use crate::error::{Failure, StoreError};
use crate::location::Location;
use crate::migrations;

/// An open store. Everything blocks; with PostgreSQL it must not be called inside an async runtime's
/// own threads.
pub struct Store {
    location: Location,
    database: Box<dyn Database>,
    decisions: Decisions,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.location)
    }
}

impl Store {
    /// Opens the store.
    ///
    /// # Errors
    ///
    /// When it can't be opened; when it is opened for reading alone and isn't there; when it was made
    /// by a newer version.
    pub fn open(location: &Location, mode: Mode) -> Result<Self, StoreError> {
        let opened = location.connect(mode).and_then(|mut database| {
            match mode {
                Mode::ReadWrite => migrations::bring_up_to_date(&mut *database)?,
                Mode::ReadOnly => migrations::check(&mut *database)?,
            }
            Ok(database)
        });
        Ok(Self {
            database: opened.map_err(|failure| StoreError::at(location, failure))?,
            location: location.clone(),
            decisions: Decisions::default(),
        })
    }

    /// Does something with what is stored.
    pub(crate) fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Decisions, &mut dyn Database) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        work(&mut self.decisions, &mut *self.database)
            .map_err(|failure| StoreError::at(&self.location, failure))
    }

    /// The connection, its location for errors, and what is kept of decisions.
    pub(crate) fn parts(&mut self) -> (&Location, &mut dyn Database, &mut Decisions) {
        (&self.location, &mut *self.database, &mut self.decisions)
    }

    /// Stores these decisions: all of them, or none. One whose id is there already is left out, so a
    /// batch can be given again after an error.
    ///
    /// # Errors
    ///
    /// When they could not be stored; [`StoreError::is_temporary`] says whether to try again.
    pub fn append(&mut self, batch: &[Entry<'_>]) -> Result<(), StoreError> {
        self.with(|decisions, database| decisions.append(database, batch))
    }

    /// One page of decisions, newest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn list(&mut self, filter: &Filter, page: &Page) -> Result<Listed, StoreError> {
        self.with(|decisions, database| decisions.list(database, filter, page))
    }

    /// The whole line of one decision.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or the line can't be read.
    pub fn get(&mut self, id: &str) -> Result<Option<String>, StoreError> {
        self.with(|decisions, database| decisions.get(database, id))
    }

    /// The mark after everything stored so far.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn newest(&mut self) -> Result<Mark, StoreError> {
        self.with(|decisions, database| decisions.newest(database))
    }

    /// What was stored after this mark, oldest first, and the mark to go on from. Nothing is left out
    /// or given twice, in whatever order ids arrive and whichever connection stores them.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn after(
        &mut self,
        mark: Mark,
        filter: &Filter,
        limit: usize,
    ) -> Result<(Vec<Summary>, Mark), StoreError> {
        self.with(|decisions, database| decisions.after(database, mark, filter, limit))
    }

    /// Gives all whole lines, in the order in which they were stored, some at a time, until `each`
    /// breaks.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or a line can't be read.
    pub fn scan(
        &mut self,
        filter: &Filter,
        each: &mut dyn FnMut(Vec<String>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.with(|decisions, database| decisions.scan(database, filter, each))
    }

    /// How many there are.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn count(&mut self, filter: &Filter) -> Result<u64, StoreError> {
        self.with(|decisions, database| decisions.count(database, filter))
    }

    /// Counts decisions of a time, in parts of it. The work is bounded: [`Part::is_at_least`](crate::Part::is_at_least) says where
    /// counting stopped.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn tally(&mut self, filter: &Filter, course: &Course) -> Result<Tally, StoreError> {
        self.with(|decisions, database| decisions.tally(database, filter, course))
    }

    /// Deletes what is too old or too much, the oldest first, and gives the space back. Decisions go
    /// in batches as they are stored; one goes when all of it is too old.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer. What was deleted until then stays deleted.
    pub fn prune(&mut self, retention: &Retention, now: SystemTime) -> Result<Pruned, StoreError> {
        self.with(|decisions, database| decisions.prune(database, retention, now))
    }

    /// Merges small batches that are older than a minute into bigger ones, which take less space.
    /// Returns the number of batches that became a part of others. Readers see no other change.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer. What was merged until then stays merged.
    pub fn consolidate(&mut self, now: SystemTime) -> Result<u64, StoreError> {
        self.with(|decisions, database| decisions.consolidate(database, now))
    }

    /// How much is there.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn statistics(&mut self) -> Result<Statistics, StoreError> {
        self.with(|decisions, database| decisions.statistics(database))
    }

    /// What in the settings of the database server would lose what was stored and acknowledged, in words.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn durability_risk(&mut self) -> Result<Option<String>, StoreError> {
        self.with(|_, database| database.durability_risk())
    }

    /// The time of the database server; none if it is the one of this machine.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn time(&mut self) -> Result<Option<SystemTime>, StoreError> {
        let seconds = self.with(|_, database| database.time())?;
        let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
        Ok(seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)))
    }

    /// The version of the tables that this program needs.
    pub fn schema_version() -> u64 {
        migrations::version()
    }

    /// Whether it answers.
    ///
    /// # Errors
    ///
    /// When it doesn't.
    pub fn check(&mut self) -> Result<(), StoreError> {
        self.with(|decisions, database| decisions.newest(database).map(|_| ()))
    }
}
