//! Why something wasn't done.

use std::time::Duration;

use portcullis_document::Fault;
use portcullis_jobs::{AdmissionError, IllegalTransition, JobStatus};
use portcullis_store::{JobsError, StoreError};

/// Why a call of the service didn't succeed.
#[derive(Debug, thiserror::Error)]
pub enum CiError {
    /// There is no such thing (404).
    #[error("not found")]
    NotFound,
    /// It can't be done in this state (409).
    #[error("{0}")]
    Conflict(String),
    /// What was given is invalid (422).
    #[error("{}", on_one_line(.0))]
    Invalid(Vec<Fault>),
    /// The token or secret is wrong (401).
    #[error("the token is not valid")]
    Unauthorized,
    /// The token of a job is wrong, or its job no longer runs (403).
    #[error("{}", not_reportable(*.0))]
    JobToken(Option<JobStatus>),
    /// What was sent is larger than the limit (413).
    #[error("it is larger than the limit of {0} bytes")]
    TooLarge(u64),
    /// Too much is waiting (429).
    #[error("too many jobs are waiting for admission")]
    TooManyRequests {
        /// When to try again.
        retry_after: Duration,
    },
    /// The store doesn't answer, or the service is shutting down (503).
    #[error("{0}")]
    Unavailable(String),
}

/// The status is said only to those who have the token.
fn not_reportable(status: Option<JobStatus>) -> String {
    match status {
        None => "the job token is not valid".to_owned(),
        Some(status) => format!("the job is not running: it is {status}"),
    }
}

fn on_one_line(faults: &[Fault]) -> String {
    let texts: Vec<String> = faults.iter().map(Fault::to_string).collect();
    texts.join("; ")
}

impl CiError {
    /// One fault at a path.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Fault::at(path, message)])
    }
}

impl From<Vec<Fault>> for CiError {
    fn from(faults: Vec<Fault>) -> Self {
        Self::Invalid(faults)
    }
}

impl From<IllegalTransition> for CiError {
    fn from(error: IllegalTransition) -> Self {
        Self::Conflict(error.to_string())
    }
}

impl From<AdmissionError> for CiError {
    fn from(error: AdmissionError) -> Self {
        match error {
            AdmissionError::Invalid(fault) => Self::invalid("", fault.to_string()),
            conflict => Self::Conflict(conflict.to_string()),
        }
    }
}

impl From<JobsError> for CiError {
    fn from(error: JobsError) -> Self {
        match error {
            JobsError::Full => Self::TooManyRequests {
                retry_after: Duration::from_secs(1),
            },
            JobsError::NameTaken(_) | JobsError::Stale { .. } => Self::Conflict(error.to_string()),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// Why the service can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store can't be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something else is missing.
    #[error("{0}")]
    Other(String),
}
