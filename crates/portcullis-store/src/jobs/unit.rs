//! What the operations of one transaction have done and is not written yet.
//!
//! New and changed jobs, decisions and deliveries are gathered, and written together at the end. Statements that could
//! see them, or get in their way, have them written before; those that can't, because they are about single rows that
//! the transaction knows, don't. An operation that fails leaves nothing behind: what it gathered is dropped, and what it
//! wrote is undone up to its savepoint, which exists only if it has written.

mod staged;

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_jobs::{JobId, PipelineId};

use super::ahead::LoadedAhead;
use super::record::{DeliveryId, IdKind, JobRecord, PipelineRecord, Stored};
use crate::database::Database;
use crate::decisions::{Decisions, Entry, NewDigests};
use crate::error::Failure;

pub use self::staged::PreparedJobs;
pub(super) use self::staged::Staged;

const SAVE: &str = "SAVEPOINT operation";
const UNDO: &str = "ROLLBACK TO SAVEPOINT operation";
const RELEASE: &str = "RELEASE SAVEPOINT operation";

/// Ids taken in advance.
pub(super) type Ids = HashMap<IdKind, Vec<u64>>;

/// What the operations of one transaction have done and is not written yet.
#[derive(Debug, Default)]
pub(super) struct Unit {
    /// By operations that succeeded.
    done: Staged,
    /// By the operation under way.
    pub(super) own: Staged,
    /// The versions of the jobs that the operation under way has loaded and locked.
    locked: HashMap<JobId, u64>,
    /// What is written but for its records.
    written: Vec<Arc<PreparedJobs>>,
    /// The same, within the savepoint of the operation under way, and whether an earlier operation did it.
    at_stake: Vec<(Arc<PreparedJobs>, bool)>,
    /// Whether operations share the transaction, and need savepoints.
    is_shared: bool,
    has_savepoint: bool,
    savepoints: usize,
    /// The version of what surrounds jobs, if it is known, and whether the transaction has changed them itself.
    pub(super) surroundings: Option<u64>,
    pub(super) changes_surroundings: bool,
    pub(super) ids: Ids,
    /// What was loaded and locked for the operations that wait.
    pub(super) ahead: LoadedAhead,
    /// How many ids are taken at once.
    pub(super) ids_at_once: usize,
    /// Whether no further operation may join the transaction, because others may wait for its end.
    pub(super) ends_soon: bool,
}

impl Unit {
    /// For one operation alone, or for several that share a transaction.
    pub(super) fn new(is_shared: bool) -> Self {
        Self {
            is_shared,
            ids_at_once: 1,
            ..Self::default()
        }
    }

    /// Savepoints so far: PostgreSQL remembers only some of a transaction where others can look them up quickly.
    pub(super) fn savepoints(&self) -> usize {
        self.savepoints
    }

    /// Whether the operation under way can be undone on its own after a statement failed.
    pub(super) fn can_undo(&self) -> bool {
        self.has_savepoint
    }

    /// The operation under way is about to write.
    pub(super) fn about_to_write(&mut self, database: &mut dyn Database) -> Result<(), Failure> {
        if self.is_shared && !self.has_savepoint {
            database.execute(SAVE, &[])?;
            self.has_savepoint = true;
            self.savepoints += 1;
        }
        Ok(())
    }

    /// Writes what was gathered, because the next statement may depend on it.
    pub(super) fn settle(&mut self, database: &mut dyn Database) -> Result<(), Failure> {
        if !self.done.is_empty() {
            let written = std::mem::take(&mut self.done).write(database)?;
            match self.has_savepoint {
                true => {
                    let written = written.into_iter().map(|one| (one, true));
                    self.at_stake.extend(written);
                }
                false => self.written.extend(written),
            }
        }
        self.about_to_write(database)?;
        if !self.own.is_empty() {
            let written = std::mem::take(&mut self.own).write(database)?;
            let written = written.into_iter().map(|one| (one, false));
            self.at_stake.extend(written);
        }
        Ok(())
    }

    /// The operation under way succeeded.
    pub(super) fn succeed(&mut self, database: &mut dyn Database) -> Result<(), Failure> {
        self.locked.clear();
        self.done.merge(std::mem::take(&mut self.own));
        let written = self.at_stake.drain(..).map(|(one, _)| one);
        self.written.extend(written);
        self.release(database)
    }

    /// The operation under way is undone.
    pub(super) fn undo(&mut self, database: &mut dyn Database) -> Result<(), Failure> {
        self.locked.clear();
        self.own = Staged::default();
        for (written, is_of_others) in self.at_stake.drain(..) {
            if is_of_others {
                self.done.adopt(written);
            }
        }
        if self.has_savepoint {
            // What it took may have been given back.
            self.ids.clear();
            self.surroundings = None;
            database.execute(UNDO, &[])?;
        }
        self.release(database)
    }

    fn release(&mut self, database: &mut dyn Database) -> Result<(), Failure> {
        if std::mem::take(&mut self.has_savepoint) {
            database.execute(RELEASE, &[])?;
        }
        Ok(())
    }

    /// Writes everything that is left, right before the end of the transaction. What is returned counts once the
    /// transaction is committed.
    pub(super) fn finish(
        &mut self,
        database: &mut dyn Database,
        decisions: &mut Decisions,
    ) -> Result<NewDigests, Failure> {
        let own = std::mem::take(&mut self.own);
        self.done.merge(own);
        let written = std::mem::take(&mut self.done).write(database)?;
        self.written.extend(written);
        self.written
            .extend(self.at_stake.drain(..).map(|(one, _)| one));
        let records = self.written.iter().flat_map(|one| one.records());
        let entries: Vec<Entry<'_>> = records
            .map(|written| Entry {
                summary: &written.summary,
                line: &written.line,
            })
            .collect();
        // The last: others who store decisions wait for the end of the transaction from here on.
        decisions.append_within(database, &entries)
    }

    /// A job that is not written yet.
    pub(super) fn job(&self, id: JobId) -> Option<&JobRecord> {
        self.own.job(id).or_else(|| self.done.job(id))
    }

    /// The operation under way has loaded a job, and no one else can change it now.
    pub(super) fn lock(&mut self, job: &JobRecord) {
        self.locked.insert(job.id, job.version());
    }

    /// The version of a job that the transaction knows to be the newest, if it does.
    pub(super) fn known_version(&self, id: JobId) -> Option<u64> {
        let staged = self.job(id).map(JobRecord::version);
        staged.or_else(|| self.locked.get(&id).copied())
    }

    /// Gathers a job whose newest version is known.
    pub(super) fn save(&mut self, job: &JobRecord, loaded: Stored) {
        self.ahead.forget_job(job.id);
        let stored = match self.own.stored(job.id).or_else(|| self.done.stored(job.id)) {
            Some(stored) => stored,
            None => Some(loaded),
        };
        self.own.put_job(job.clone(), stored);
    }

    /// Whether a job is new and has no delivery.
    pub(super) fn has_no_delivery(&self, id: JobId) -> bool {
        let stored = self.own.stored(id).or_else(|| self.done.stored(id));
        stored == Some(None) && !self.has_new_delivery(id)
    }

    /// Whether a job has a delivery that is not written yet.
    pub(super) fn has_new_delivery(&self, id: JobId) -> bool {
        let has = |staged: &Staged| staged.rest.has_delivery_of(id);
        has(&self.own) || has(&self.done)
    }

    /// Whether a delivery was changed, and that is not written yet.
    pub(super) fn saves_delivery(&self, id: DeliveryId) -> bool {
        let saves = |staged: &Staged| staged.rest.saves_delivery(id);
        saves(&self.own) || saves(&self.done)
    }

    /// A pipeline that is not written yet.
    pub(super) fn pipeline(&self, id: PipelineId) -> Option<&PipelineRecord> {
        self.own.pipeline(id).or_else(|| self.done.pipeline(id))
    }

    /// Changes a pipeline that is not written yet; says whether there is such a one.
    pub(super) fn save_pipeline(&mut self, pipeline: &PipelineRecord) -> bool {
        self.own.save_pipeline(pipeline)
    }

    /// The jobs of a pipeline that is not written yet; they aren't either.
    pub(super) fn jobs_of(&self, id: PipelineId) -> Vec<JobRecord> {
        let all = self.done.jobs_of(id).chain(self.own.jobs_of(id));
        let by_id: std::collections::BTreeMap<JobId, &JobRecord> =
            all.map(|job| (job.id, job)).collect();
        by_id.into_values().cloned().collect()
    }
}
