//! Who evaluates policies.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use portcullis_jobs::{ControllerId, JobId, JobUser};
use serde_json::Value;

/// An evaluation under way. An error is a text for the record: a policy that failed, or a limit.
pub type Judging = Pin<Box<dyn Future<Output = Result<PolicyVerdict, String>> + Send>>;

/// Which policies are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyChoice {
    /// The configured policy of this name, whatever its doors.
    Named(String),
    /// A policy that a controller carries itself. A controller's code changes only with its revision.
    Code {
        /// The controller.
        controller: ControllerId,
        /// Its name, for messages.
        name: String,
        /// Its revision.
        revision: u64,
        /// The text.
        code: String,
    },
    /// The configured policies for the door `ci`, in their order.
    Door,
}

/// What policies are asked.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyQuestion {
    /// Which policies.
    pub policies: PolicyChoice,
    /// The object: see [`portcullis_jobs::policy_object`].
    pub object: Value,
    /// The job.
    pub job: JobId,
    /// Its attempt.
    pub attempt: u32,
    /// Whom the job runs for.
    pub user: JobUser,
    /// How long it may take at most.
    pub within: Duration,
}

/// What policies answer.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyVerdict {
    /// Whether the job is accepted.
    pub accepted: bool,
    /// Why.
    pub reason: Option<String>,
    /// The policy that decided, if one did.
    pub policy: Option<String>,
    /// The object with the changes of the policies, if they made any.
    pub object: Option<Value>,
}

/// Evaluates policies.
pub trait PolicyJudge: Send + Sync + fmt::Debug {
    /// Evaluates. It always ends, at the latest after the time given.
    fn judge(&self, question: PolicyQuestion) -> Judging;

    /// Whether there is a configured policy of this name.
    fn has_policy(&self, name: &str) -> bool;

    /// Whether any configured policy is for jobs.
    fn has_ci_policies(&self) -> bool;

    /// Whether the text of a policy can be evaluated at all.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn check_code(&self, code: &str) -> Result<(), String>;
}
