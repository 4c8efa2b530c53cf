//! What one controller did, as it is recorded.

use portcullis_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::controller::ControllerLevel;
use crate::exemption::ExemptionId;
use crate::runners::RunnerLists;
use crate::tags::TagChange;
use crate::timestamp::Timestamp;

vocabulary! {
    /// How it ended with one controller.
    pub enum DecisionVerdict {
        /// It accepted.
        Accepted = "accepted",
        /// It denied.
        Denied = "denied",
        /// It wasn't asked: the job doesn't match, or the controller is gone.
        Skipped = "skipped",
        /// It didn't answer in time.
        Timeout = "timeout",
        /// It failed.
        Error = "error",
    }
}

/// What one controller did with one attempt. There is at most one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdmissionDecision {
    /// The name of the controller.
    pub controller: String,
    /// Its level.
    pub level: ControllerLevel,
    /// The attempt of the job.
    pub attempt: u32,
    /// How it ended.
    pub verdict: DecisionVerdict,
    /// Whether it is only recorded.
    pub dry_run: bool,
    /// The exemption because of which a denial doesn't count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempted_by: Option<ExemptionId>,
    /// Why.
    pub reason: Option<String>,
    /// The change of tags that was asked for.
    pub tags: TagChange,
    /// The tags before.
    pub tags_before: Vec<String>,
    /// The tags after; in a dry run the same as before.
    pub tags_after: Vec<String>,
    /// The runners that were accepted and rejected.
    pub runners: RunnerLists,
    /// What the controller's author should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How long it took from the first request.
    pub latency_ms: u64,
    /// When it ended.
    pub at: Timestamp,
}

impl AdmissionDecision {
    /// Whether its reason is one of those for the outcome.
    pub(super) fn has_effect(&self) -> bool {
        !self.dry_run && self.verdict != DecisionVerdict::Skipped
    }
}
