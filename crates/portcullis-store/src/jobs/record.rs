//! What is stored: jobs, and next to them pipelines, deliveries and decisions.

mod decision;
mod delivery;
mod id_kind;
mod pipeline;

use std::ops::{Deref, DerefMut};

use portcullis_jobs::{Job, JobDefinition, JobId, JobState, JobStatus, PipelineId, Timestamp};

use super::column;
use super::day::Day;
use crate::database::Row;
use crate::error::Failure;

pub use decision::DecisionRecord;
pub use delivery::{Delivery, DeliveryId, DeliveryState, DeliveryTry};
pub use id_kind::IdKind;
pub use pipeline::PipelineRecord;

/// What [`JobRecord::read`] reads, in its order.
pub(super) const SELECT: &str = "SELECT id, pipeline, version, created_at, deadline, promoted, \
                                 definition, state, admission FROM jobs";

/// What [`JobRecord::read_with_day`] reads, in its order: of those in use, which have no day, and of the archive.
pub(super) const SELECT_NO_DAY: &str = "SELECT CAST(NULL AS BIGINT), id, pipeline, version, created_at, deadline, \
                                        promoted, definition, state, admission FROM jobs";
pub(super) const SELECT_ARCHIVED: &str = "SELECT day, id, pipeline, version, created_at, deadline, promoted, \
                                          definition, state, admission FROM archived_jobs";

/// A job as it is stored: a [`Job`], and what only the store needs. It is changed in memory, and saved with
/// [`JobsTransaction::save_job`](crate::JobsTransaction::save_job).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// The job. Its definition is not changed when it is saved.
    pub job: Job,
    /// When the server has to look at it even if nothing happens: because admission times out, a lease ends, or it is
    /// stuck or lost. Claiming it moves this on, see
    /// [`JobsTransaction::claim_due_jobs`](crate::JobsTransaction::claim_due_jobs).
    pub deadline: Option<Timestamp>,
    /// Whether it comes before others in the queue.
    pub promoted: bool,
    /// Who takes it. It is written when the job begins to run, and not loaded with it.
    pub taker: Option<Taker>,
    /// How often it was saved.
    pub(super) version: u64,
    /// Its status when it was loaded or saved.
    pub(super) stored_status: JobStatus,
    /// The day of the archive that it was loaded from.
    pub(super) archived: Option<Day>,
}

/// Who takes a job, apart from the number of the runner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taker {
    /// The machine that asked with the runner's token; empty if it doesn't say which it is.
    pub manager: String,
    /// Whether it is an instance runner, which projects share.
    pub is_shared: bool,
}

/// What the database has of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) version: u64,
    pub(super) status: JobStatus,
}

impl Deref for JobRecord {
    type Target = Job;

    fn deref(&self) -> &Job {
        &self.job
    }
}

impl DerefMut for JobRecord {
    fn deref_mut(&mut self) -> &mut Job {
        &mut self.job
    }
}

impl JobRecord {
    /// A new job.
    pub fn new(
        id: JobId,
        pipeline: Option<PipelineId>,
        definition: JobDefinition,
        now: Timestamp,
    ) -> Self {
        Self {
            job: Job {
                id,
                pipeline,
                created_at: now,
                definition,
                state: JobState::new(),
                admission: None,
            },
            deadline: None,
            promoted: false,
            taker: None,
            version: 0,
            stored_status: JobStatus::Created,
            archived: None,
        }
    }

    /// How often it was saved. Others may have saved it since it was loaded.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What the database has of it, if nobody saved it since it was loaded.
    pub(super) fn stored(&self) -> Stored {
        Stored {
            version: self.version,
            status: self.stored_status,
        }
    }

    pub(super) fn root(&self) -> &str {
        column::root(&self.definition.project)
    }

    /// The job in a row of [`SELECT`].
    pub(super) fn read(mut row: Row) -> Result<Self, Failure> {
        let (id, pipeline) = (
            column::read_id(&mut row)?,
            column::read_optional_id(&mut row)?,
        );
        let (version, created_at) = (column::read_id(&mut row)?, column::read_time(&mut row)?);
        let mut record = Self {
            deadline: column::read_optional_time(&mut row)?,
            promoted: column::read_flag(&mut row)?,
            job: Job {
                id,
                pipeline,
                created_at,
                definition: column::read_json(&mut row)?,
                state: column::read_json(&mut row)?,
                admission: column::read_optional_json(&mut row)?,
            },
            taker: None,
            version,
            stored_status: JobStatus::Created,
            archived: None,
        };
        record.stored_status = record.state.status;
        Ok(record)
    }

    /// The job in a row of [`SELECT_NO_DAY`] or [`SELECT_ARCHIVED`].
    pub(super) fn read_with_day(mut row: Row) -> Result<Self, Failure> {
        let day = row.optional_number()?.map(Day);
        let mut record = Self::read(row)?;
        record.archived = day;
        Ok(record)
    }
}
