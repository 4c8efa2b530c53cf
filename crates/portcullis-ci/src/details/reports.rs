//! What runners report on the jobs they have, and what they are told.

use portcullis_jobs::{JobId, JobStatus};
use serde::Deserialize;

/// How a runner says that a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedState {
    /// It has not begun yet.
    Pending,
    /// It runs.
    Running,
    /// It ended well.
    Success,
    /// It failed.
    Failed,
}

/// What a runner reports on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// How it is.
    pub state: ReportedState,
    /// Why it failed, in the runner's words.
    pub failure_reason: Option<String>,
    /// What its script exited with.
    pub exit_code: Option<i32>,
    /// The checksum of its whole trace, like `crc32:0a1b2c3d`.
    pub checksum: Option<String>,
    /// The bytes of its whole trace.
    pub bytesize: Option<u64>,
}

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportOutcome {
    /// It counts; the job is in this state now.
    Counts(JobStatus),
    /// The trace is not what the runner sent: it is to be sent again from the beginning, and then the report.
    ResendTrace,
}

/// What became of a piece of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceOutcome {
    /// It is stored; the trace has so many bytes.
    Appended(u64),
    /// It begins elsewhere than the trace ends, which has so many bytes.
    Misplaced(u64),
}

/// An artifact that a runner uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtifact {
    /// What the runner calls it: `archive` by default.
    pub kind: String,
    /// Its name, which is never used as a path.
    pub name: String,
    /// How long it is kept, like `1 week`.
    pub expire_in: Option<String>,
}

/// An artifact to download.
#[derive(Debug)]
pub struct ArtifactDownload {
    /// Its job.
    pub job: JobId,
    /// Its name, as the runner gave it.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// Its content.
    pub file: tokio::fs::File,
}
