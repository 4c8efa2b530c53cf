//! Jobs and pipelines.

use portcullis_jobs::{JobId, JobStatus, PipelineId, PipelineStatus, Timestamp};
use schemars::JsonSchema;
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

/// A job of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
