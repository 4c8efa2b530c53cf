//! Controllers and deliveries.

use std::fmt;

use portcullis_document::Duration;
use portcullis_jobs::{
    BreakerState, ControllerDefinition, ControllerId, JobId, Timestamp, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ControllerDetails {
    /// Its number.
    pub id: ControllerId,
    /// How it is defined.
    #[serde(flatten)]
    pub definition: ControllerDefinition,
    /// When it was registered.
    pub created_at: Timestamp,
    /// Raised by every change.
    pub revision: u64,
    /// How calling it goes, as far as this server knows; absent if it has not called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerDetails>,
}

/// How calling a controller goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BreakerDetails {
    /// What the breaker lets through.
    pub state: BreakerState,
    /// Calls under way.
    pub in_flight: usize,
}

/// A controller that was registered, with its secret, which is shown once.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CreatedController {
    /// The controller.
    #[serde(flatten)]
    pub controller: ControllerDetails,
    /// `whsec_` and the base64 of the secret.
    pub secret: String,
}

impl fmt::Debug for CreatedController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let controller = &self.controller;
        f.debug_struct("CreatedController")
            .field("controller", controller)
            .finish_non_exhaustive()
    }
}

/// What a controller answered to a made-up job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestResult {
    /// The verdict. Absent with an error, and if the controller wants to call back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
}

/// What a controller that pulls asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {
    /// How long to wait if there is nothing.
    #[serde(default)]
    pub wait: Option<Duration>,
    /// The most jobs.
    #[serde(default)]
    pub max: Option<usize>,
}

/// Which deliveries are listed. What is absent doesn't matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Their job.
    pub job: Option<JobId>,
    /// Their controller.
    pub controller: Option<ControllerId>,
}

/// One question to one controller about one attempt of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryDetails {
    /// Its number.
    pub id: u64,
    /// The job.
    pub job: JobId,
    /// The path of the job's project.
    pub project: String,
    /// The controller.
    pub controller: ControllerId,
    /// The controller's name; absent if it is deleted.
    pub controller_name: Option<String>,
    /// The attempt of the job.
    pub attempt: u32,
    /// `waiting`, `delivered`, `failed` or `done`.
    pub state: String,
    /// The `webhook-id`, the same in every try.
    pub webhook_id: String,
    /// What was tried.
    pub tries: Vec<DeliveryTry>,
    /// When it is tried next.
    pub next_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Until when an answer counts.
    pub deadline: Timestamp,
}

/// One try to deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryTry {
    /// When it began.
    pub at: Timestamp,
    /// The status that was answered.
    pub status: Option<u16>,
    /// Why it failed.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
}
