//! A job as it is stored.

use portcullis_jobs::{
    Admission, JobDefinition, JobId, JobState, JobStatus, PipelineId, Timestamp,
};
use portcullis_jobs::{PipelineJob, RunnerFilter};

use super::column;
use crate::database::Row;
use crate::error::Failure;

/// What [`JobRecord::read`] reads, in its order.
pub(super) const SELECT: &str = "SELECT id, pipeline, version, created_at, deadline, promoted, \
                                 definition, state, admission FROM jobs";

/// A job with its state. It is changed in memory, and saved with
/// [`JobsTransaction::save_job`](crate::JobsTransaction::save_job).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// Its number.
    pub id: JobId,
    /// Its pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// As it was submitted; not changed when it is saved.
    pub definition: JobDefinition,
    /// Where it is.
    pub state: JobState,
    /// Its admission, once that has begun.
    pub admission: Option<Admission>,
    /// When the server has to look at it even if nothing happens: because admission times out, a lease ends, or it is
    /// stuck or lost. Claiming it moves this on, see
    /// [`JobsTransaction::claim_due_jobs`](crate::JobsTransaction::claim_due_jobs).
    pub deadline: Option<Timestamp>,
    /// Whether it comes before others in the queue.
    pub promoted: bool,
    /// How often it was saved.
    pub(super) version: u64,
    /// Whether it was pending when it was loaded or saved.
    pub(super) is_queued: bool,
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
            id,
            pipeline,
            created_at: now,
            definition,
            state: JobState::new(),
            admission: None,
            deadline: None,
            promoted: false,
            version: 0,
            is_queued: false,
        }
    }

    /// How often it was saved. Others may have saved it since it was loaded.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Its tags after admission, as far as that has come.
    pub fn tags(&self) -> &[String] {
        let admission = self.admission.as_ref();
        admission.map_or(&self.definition.tags, |admission| &admission.tags)
    }

    /// What admission leaves of the runners.
    pub fn filter(&self) -> Option<&RunnerFilter> {
        self.admission.as_ref().map(|admission| &admission.filter)
    }

    /// The job, as far as its pipeline is concerned.
    pub fn pipeline_job(&self) -> PipelineJob {
        PipelineJob {
            id: self.id,
            stage: self.definition.stage.clone(),
            status: self.state.status,
            allowed_to_fail: self
                .state
                .is_allowed_failure(&self.definition.allow_failure),
        }
    }

    pub(super) fn root(&self) -> &str {
        column::root(&self.definition.project)
    }

    /// The job in a row of [`SELECT`].
    pub(super) fn read(mut row: Row) -> Result<Self, Failure> {
        let mut record = Self {
            id: column::read_id(&mut row)?,
            pipeline: column::read_optional_id(&mut row)?,
            version: column::read_id(&mut row)?,
            created_at: column::read_time(&mut row)?,
            deadline: column::read_optional_time(&mut row)?,
            promoted: column::read_flag(&mut row)?,
            definition: column::read_json(&mut row)?,
            state: column::read_json(&mut row)?,
            admission: column::read_optional_json(&mut row)?,
            is_queued: false,
        };
        record.is_queued = record.state.status == JobStatus::Pending;
        Ok(record)
    }
}
