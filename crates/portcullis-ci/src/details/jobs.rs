//! Jobs and pipelines.

use portcullis_jobs::{
    AdmissionView, FailureReason, JobId, JobStatus, JobUser, PipelineId, PipelineStatus,
    Prerequisites, RunnerId, Timestamp,
};
use serde::Serialize;

/// Which jobs are listed. What is absent doesn't matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Their status.
    pub status: Option<JobStatus>,
    /// The path of their project.
    pub project: Option<String>,
    /// The first names of their projects' paths.
    pub roots: Option<Vec<String>>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobDetails {
    /// Its number.
    pub id: JobId,
    /// The path of its project.
    pub project: String,
    /// Its name.
    pub name: String,
    /// Its pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
    /// Its stage.
    pub stage: String,
    /// The branch or tag it is for.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// Whether that is protected.
    pub ref_protected: bool,
    /// What caused it.
    pub source: String,
    /// The user it runs for.
    pub user: JobUser,
    /// Where it is.
    pub status: JobStatus,
    /// Why it failed.
    pub failure_reason: Option<FailureReason>,
    /// Whether it failed, and that doesn't fail its pipeline.
    pub allowed_to_fail: bool,
    /// Its tags after all changes.
    pub tags: Vec<String>,
    /// Its tags as submitted.
    pub original_tags: Vec<String>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it entered the queue.
    pub queued_at: Option<Timestamp>,
    /// When a runner took it.
    pub started_at: Option<Timestamp>,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
    /// The runner that has or had it.
    pub runner_id: Option<RunnerId>,
    /// What it waits for before it enters the queue.
    pub prerequisites: Prerequisites,
    /// Its admission, once that has begun.
    pub admission: Option<AdmissionView>,
    /// The runners that may take it now; none after a denial.
    pub eligible_runners: Vec<RunnerId>,
    /// Why no runner takes it, while it is in the queue.
    pub stuck_reason: Option<String>,
}

/// A job of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobSummary {
    /// Its number.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: String,
    /// Where it is.
    pub status: JobStatus,
    /// Whether it failed, and that doesn't fail the pipeline.
    pub allowed_to_fail: bool,
}

/// A pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PipelineDetails {
    /// Its number.
    pub id: PipelineId,
    /// The path of its project.
    pub project: String,
    /// Its name.
    pub name: String,
    /// The branch or tag it is for.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// The change it is for.
    pub change: Option<String>,
    /// How it is.
    pub status: PipelineStatus,
    /// Its stages, with the outer ones.
    pub stages: Vec<String>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
    /// Its jobs.
    pub jobs: Vec<JobSummary>,
}

/// Which pipelines of a project are meant. What is absent doesn't matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PipelineFilter {
    /// The path of the project.
    pub project: String,
    /// Their name.
    pub name: Option<String>,
    /// The branch or tag they are for.
    pub git_ref: Option<String>,
    /// The change they are for.
    pub change: Option<String>,
}
