//! The canonical verdict.

use portcullis_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::runners::RunnerLists;
use crate::tags::TagChange;

/// The most bytes of a reason; the rest is cut off.
pub const MOST_REASON_BYTES: usize = 1024;

vocabulary! {
    /// Whether a job is admitted.
    pub enum AdmissionWord {
        /// It is.
        Accepted = "accepted",
        /// It isn't.
        Denied = "denied",
    }
}

/// The answer of a controller for one job, in its canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The job.
    pub id: u64,
    /// Whether it is admitted.
    pub admission: AdmissionWord,
    /// Why, or why it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The change of its tags; empty for a denial.
    #[serde(default, skip_serializing_if = "TagChange::is_empty")]
    pub tags: TagChange,
    /// The runners it may run on; absent if the verdict doesn't mention runners, and for a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runners: Option<RunnerLists>,
}

impl Verdict {
    /// An acceptance without changes.
    pub fn accepted(id: u64) -> Self {
        Self {
            id,
            admission: AdmissionWord::Accepted,
            reason: None,
            tags: TagChange::default(),
            runners: None,
        }
    }

    /// A denial.
    pub fn denied(id: u64, reason: &str) -> Self {
        Self {
            admission: AdmissionWord::Denied,
            reason: clean_reason(reason),
            ..Self::accepted(id)
        }
    }

    /// Whether the job is admitted.
    pub fn is_accepted(&self) -> bool {
        self.admission == AdmissionWord::Accepted
    }

    /// Whether it asks for a change of tags or runners.
    pub fn is_mutation(&self) -> bool {
        let filters = self.runners.as_ref().is_some_and(|lists| !lists.is_empty());
        filters || !self.tags.is_empty()
    }
}

/// A reason without control characters, of at most [`MOST_REASON_BYTES`]; nothing if nothing is left.
pub fn clean_reason(reason: &str) -> Option<String> {
    let mut clean = String::new();
    for c in reason.chars().filter(|c| !c.is_control()) {
        if clean.len() + c.len_utf8() > MOST_REASON_BYTES {
            break;
        }
        clean.push(c);
    }
    let clean = clean.trim();
    (!clean.is_empty()).then(|| clean.to_owned())
}
