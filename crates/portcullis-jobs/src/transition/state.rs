//! The part of a job that events change.

use serde::{Deserialize, Serialize};

use crate::allow_failure::AllowFailure;
use crate::failure::FailureReason;
use crate::runners::RunnerId;
use crate::status::JobStatus;
use crate::timestamp::Timestamp;

/// The state of a job. The id of the job stays the same for all attempts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JobState {
    /// Where it is.
    pub status: JobStatus,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Why it failed.
    pub failure_reason: Option<FailureReason>,
    /// What its script exited with.
    pub exit_code: Option<i32>,
    /// When admission times out, while it is preparing.
    pub deadline: Option<Timestamp>,
    /// The runner that has or had it in this attempt.
    pub runner_id: Option<RunnerId>,
    /// Whether that runner reported that it has begun.
    pub acknowledged: bool,
    /// When that runner last gave a sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contacted_at: Option<Timestamp>,
    /// When it entered the queue.
    pub queued_at: Option<Timestamp>,
    /// When a runner took it.
    pub started_at: Option<Timestamp>,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

impl JobState {
    /// A new job.
    pub fn new() -> Self {
        Self::of_attempt(1)
    }

    /// A job at the beginning of an attempt.
    pub(super) fn of_attempt(attempt: u32) -> Self {
        Self {
            status: JobStatus::Created,
            attempt,
            failure_reason: None,
            exit_code: None,
            deadline: None,
            runner_id: None,
            acknowledged: false,
            contacted_at: None,
            queued_at: None,
            started_at: None,
            finished_at: None,
        }
    }

    /// Whether it failed, and that doesn't fail its pipeline.
    pub fn is_allowed_failure(&self, allow: &AllowFailure) -> bool {
        let covers = |reason| allow.covers(reason, self.exit_code);
        self.status == JobStatus::Failed && self.failure_reason.is_some_and(covers)
    }
}

impl Default for JobState {
    fn default() -> Self {
        Self::new()
    }
}
