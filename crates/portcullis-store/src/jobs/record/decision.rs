//! What a controller did.

use portcullis_jobs::{AdmissionDecision, ControllerId};

/// What one controller did with one attempt of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Its place in the chain of the attempt.
    pub position: usize,
    /// The controller; none for the configured policies.
    pub controller: Option<ControllerId>,
    /// What it did.
    pub decision: AdmissionDecision,
}
