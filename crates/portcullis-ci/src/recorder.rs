//! Who is told what happened, for decision records and metrics.

use std::fmt;
use std::time::Duration;

use portcullis_jobs::{
    AdmissionDecision, AdmissionState, BreakerState, ControllerId, FailureReason, JobDefinition,
    JobId, JobStatus, PipelineId, Timestamp,
};
use portcullis_record::Written;
use portcullis_store::HeldManager;
use serde_json::Value;

/// The finished admission of one attempt of a job: what one decision record is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedAdmission {
    /// The job.
    pub job: JobId,
    /// Its pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
    /// The attempt.
    pub attempt: u32,
    /// What was submitted.
    pub definition: JobDefinition,
    /// The job as the first of the chain saw it, as an object of policies.
    pub object: Value,
    /// The same after the last.
    pub changed_object: Value,
    /// What each controller did, in order.
    pub decisions: Vec<AdmissionDecision>,
    /// How it ended: never waiting.
    pub state: AdmissionState,
    /// Why the job failed, if it did.
    pub failure_reason: Option<FailureReason>,
    /// All reasons.
    pub reason: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Timestamp,
}

/// How one try to deliver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// With a verdict.
    Answered,
    /// The controller will call back.
    Deferred,
    /// It failed.
    Failed,
    /// The controller is gone.
    Gone,
}

/// Something that metrics count.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// A job came to be, or its status changed.
    Job {
        /// Where it was; nothing if it is new.
        from: Option<JobStatus>,
        /// Where it is.
        to: JobStatus,
        /// Why it failed.
        failure_reason: Option<FailureReason>,
    },
    /// One place of a chain ended.
    Decision(Box<AdmissionDecision>),
    /// A try to deliver ended.
    Delivery {
        /// The controller.
        controller: ControllerId,
        /// Its name.
        name: String,
        /// How.
        outcome: DeliveryOutcome,
        /// How long it took.
        took: Duration,
    },
    /// The breaker of a controller changed.
    Breaker {
        /// The controller.
        controller: ControllerId,
        /// Its name.
        name: String,
        /// What it lets through now.
        state: BreakerState,
    },
    /// A controller was suspended, because it answered 410.
    Suspended {
        /// The controller.
        controller: ControllerId,
        /// Its name.
        name: String,
    },
    /// A job failed, and the machine that ran it is kept for somebody to look at it.
    Held {
        /// The job.
        job: JobId,
        /// The machine, and the hold.
        held: HeldManager,
    },
    /// A callback came with an unknown token.
    UnknownToken,
    /// A submission was refused because too much is waiting.
    Overload {
        /// The path of the project.
        project: String,
    },
    /// The settings of the database would lose jobs that were acknowledged.
    Durability {
        /// Which, and when.
        risk: String,
    },
    /// Background work failed; it is tried again.
    Trouble {
        /// What happened.
        error: String,
    },
}

/// The record of a finished admission.
pub struct AdmissionRecord {
    /// What the decision log keeps, where it is in the store of the jobs: it is stored together with the verdict.
    pub entry: Option<Written>,
    /// Called once the verdict is stored.
    pub stored: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for AdmissionRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = &self.entry;
        f.debug_struct("AdmissionRecord")
            .field("entry", entry)
            .finish_non_exhaustive()
    }
}

/// A record that must be kept and can't be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the decision could not be recorded, which is required")]
pub struct NotRecorded;

/// Makes records, and is told what happened, after it is stored. Nothing here may block for long.
pub trait Recorder: Send + Sync + fmt::Debug {
    /// The record of an admission that ends. Asked while the verdict is being stored, and again if that has to be done
    /// again: what an earlier one said is forgotten then.
    ///
    /// # Errors
    ///
    /// When it must be recorded and can't be: then the verdict is not stored.
    fn record(&self, finished: FinishedAdmission) -> Result<AdmissionRecord, NotRecorded>;

    /// Something happened that metrics count.
    fn observe(&self, observation: &Observation);
}
