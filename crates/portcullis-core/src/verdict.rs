//! The verdict: what was decided, by whom, why, and what else was considered.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::patch::PatchOperation;
use crate::policy_step::{HostCallStep, PolicyStep};
use crate::sync::Mutex;
use crate::{microseconds, vocabulary};

/// The name of a decision: sortable by time, good in logs and links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionId(Ulid);

impl DecisionId {
    /// A new name for a decision made at this time. Those of one process sort as they were made, also
    /// within a millisecond.
    pub fn new(time: SystemTime) -> Self {
        static LAST: Mutex<Ulid> = Mutex::new(Ulid::nil());
        let fresh = Ulid::from_datetime(time);
        let mut last = LAST.lock();
        if fresh.timestamp_ms() < last.timestamp_ms() {
            return Self(fresh);
        }
        let is_same_time = fresh.timestamp_ms() == last.timestamp_ms();
        let next = is_same_time.then(|| last.increment().ok()).flatten();
        *last = next.unwrap_or(fresh);
        Self(*last)
    }

    /// When the decision was made, to the millisecond.
    pub fn time(&self) -> SystemTime {
        self.0.datetime()
    }
}

impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Yes, or no and why.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The request may go on.
    Allow,
    /// The request may not go on.
    Deny(Denial),
}

/// Why a request may not go on, in the terms of Kubernetes' `Status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Denial {
    /// HTTP status code for the caller.
    pub code: u16,
    /// One machine-readable word, like `Forbidden`.
    pub reason: Cow<'static, str>,
    /// The text a person reads.
    pub message: String,
    /// When to try again, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
    /// The faults one by one, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
}

/// One fault of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Where, as a dotted path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// What.
    pub message: String,
    /// One machine-readable word.
    pub reason: Cow<'static, str>,
}

impl Denial {
    /// A denial with another status than the usual ones.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: Cow::Borrowed(reason),
            message: message.into(),
            retry_after_seconds: None,
            causes: Vec::new(),
        }
    }

    /// 403: the rules say no.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "Forbidden", message)
    }

    /// 400: the object is not of the shape it must have.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 422: the object's content is at fault.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(422, "Invalid", message)
    }

    /// 429: too much at once.
    pub fn too_many_requests(message: impl Into<String>) -> Self {
        Self::new(429, "TooManyRequests", message)
    }

    /// 500: no decision could be made, so the request is denied.
    pub fn undecided(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// The same with single faults.
    #[must_use]
    pub fn with_causes(mut self, causes: Vec<Cause>) -> Self {
        self.causes = causes;
        self
    }
}

vocabulary! {
    /// Which half of a plug-in a step was.
    pub enum Phase {
        /// May change the object.
        Admit = "admit",
        /// May not.
        Validate = "validate",
    }
}

vocabulary! {
    /// How a step of the chain ended.
    pub enum StepOutcome {
        /// Did not run, or had nothing to say about such a request; the detail says why.
        Skipped = "skipped",
        /// No objection.
        Passed = "passed",
        /// No objection, and changed the object.
        Changed = "changed",
        /// Denied.
        Denied = "denied",
        /// Could not decide.
        Error = "error",
        /// Took too long.
        Timeout = "timeout",
        /// Panicked.
        Panic = "panic",
    }
}

impl StepOutcome {
    /// Whether the plug-in failed, so that its failure mode says what follows.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Error | Self::Timeout | Self::Panic)
    }
}

/// What one plug-in did with a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Name of the plug-in.
    pub plugin: Arc<str>,
    /// Which half of it.
    pub phase: Phase,
    /// How it ended.
    pub outcome: StepOutcome,
    /// Why, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'static, str>>,
    /// Whether it, or a policy of it, could not decide and was passed over.
    #[serde(skip_serializing_if = "is_false")]
    pub failed_open: bool,
    /// How many of the verdict's warnings are its own; they stand in the order of the steps.
    #[serde(skip_serializing_if = "is_zero")]
    pub warnings: usize,
    /// What its policies did, where it has policies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PolicyStep>,
    /// The host calls of its policies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_calls: Vec<HostCallStep>,
    /// What it changed, where the verdict's own patch doesn't say it: after a denial, or where
    /// several changed the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<PatchOperation>,
    /// How long it took.
    #[serde(rename = "duration_us", with = "microseconds")]
    pub duration: Duration,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
fn is_false(is_so: &bool) -> bool {
    !*is_so
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The answer to one request for admission.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Name of this decision.
    pub id: DecisionId,
    /// Yes or no.
    pub decision: Decision,
    /// The plug-in that denied; none when all agreed.
    pub plugin: Option<Arc<str>>,
    /// The policy inside that plug-in that decided, where it has policies.
    pub policy: Option<String>,
    /// Remarks for the person who asked.
    pub warnings: Vec<String>,
    /// Remarks for the auditor.
    pub annotations: BTreeMap<String, String>,
    /// What to change in the object; empty on a denial.
    pub patch: Vec<PatchOperation>,
    /// What every plug-in did, in order.
    pub trace: Vec<Step>,
    /// How long it all took.
    pub duration: Duration,
}

impl Verdict {
    /// Whether the request may go on.
    pub fn is_allowed(&self) -> bool {
        matches!(self.decision, Decision::Allow)
    }

    /// The denial, if it is one.
    pub fn denial(&self) -> Option<&Denial> {
        match &self.decision {
            Decision::Allow => None,
            Decision::Deny(denial) => Some(denial),
        }
    }

    /// Whether the denial says only that no decision could be made.
    pub fn is_undecided(&self) -> bool {
        !self.is_allowed() && self.trace.last().is_some_and(|s| s.outcome.is_failure())
    }

    /// Whether any plug-in had something to say about such a request.
    pub fn anything_applied(&self) -> bool {
        self.trace.iter().any(|s| s.outcome != StepOutcome::Skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_they_were_made() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_900_000_000_000);
        let ids: Vec<DecisionId> = (0..1000).map(|_| DecisionId::new(time)).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!(ids.iter().all(|id| id.time() == time));
        let earlier = DecisionId::new(time - Duration::from_secs(1));
        assert_eq!(earlier.time(), time - Duration::from_secs(1));
        let later = DecisionId::new(time + Duration::from_millis(1));
        assert!(ids.last() < Some(&later));
    }
}
