//! Everything that happens to CI jobs, without HTTP servers and JavaScript.
//!
//! [`Service`] is what the API calls. It keeps jobs in the store, asks controllers and policies about them, and goes on
//! when they answer. What is decided is the matter of `portcullis-jobs`; the server gives a [`PolicyJudge`], which
//! evaluates policies, and a [`Recorder`], which writes decisions and metrics.

mod artifacts;
mod backlog;
mod database;
mod delivery;
mod details;
mod draft;
mod engine;
mod error;
mod gate;
mod ids;
mod inner;
mod judge;
mod known;
mod lanes;
mod overload;
mod policies;
mod queue;
mod recorder;
mod resume;
mod secrets;
mod service;
mod serving;
mod settings;
mod surroundings;
mod sweeper;
mod upkeep;
mod view;

pub use artifacts::ArtifactUpload;
pub use details::{
    ArtifactDownload, BreakerDetails, ClaimRequest, ControllerDetails, CreatedController,
    CreatedRunner, DeliveryDetails, DeliveryFilter, DeliveryTry, ExemptionDetails, JobFilter,
    JobReport, JobRequest, JobSummary, ManagerDetails, NewArtifact, NewRunner, Page, PageRequest,
    PipelineDetails, PipelineFilter, ReportOutcome, ReportedState, RunnerContact, Stats, TakenJob,
    TestResult, TraceOutcome,
};
pub use engine::CallbackOutcome;
pub use error::{CiError, OpenError};
pub use gate::{Gate, OpenGate, Pause};
pub use judge::{Judging, PolicyChoice, PolicyJudge, PolicyQuestion, PolicyVerdict};
pub use portcullis_jobs::JobDetails;
pub use portcullis_store::{JobCount, JobCounts, JobRun, LivePipelines, WaitingCount};
pub use recorder::{
    AdmissionRecord, DeliveryOutcome, FinishedAdmission, NotRecorded, Observation, Recorder,
};
pub use service::{RunningJob, Service};
pub use settings::{ArtifactSettings, RunnerSettings, Settings, WebhookSettings};
