//! What the API shows. Each type serializes to the body of the API.

mod controllers;
mod exemptions;
mod jobs;
mod page;
mod reports;
mod requests;
mod runners;
mod stats;

pub use controllers::{
    BreakerDetails, ClaimRequest, ControllerDetails, CreatedController, DeliveryDetails,
    DeliveryFilter, DeliveryTry, TestResult,
};
pub use exemptions::ExemptionDetails;
pub use jobs::{JobFilter, JobSummary, PipelineDetails, PipelineFilter};
pub use page::{Page, PageRequest};
pub use reports::{
    ArtifactDownload, JobReport, NewArtifact, ReportOutcome, ReportedState, TraceOutcome,
};
pub use requests::{JobRequest, RunnerContact, TakenJob};
pub use runners::{CreatedRunner, ManagerDetails, NewRunner};
pub use stats::Stats;
