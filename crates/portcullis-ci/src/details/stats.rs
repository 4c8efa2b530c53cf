//! Numbers for metrics.

use std::time::Duration;

use portcullis_jobs::{ControllerId, JobStatus};

/// How much there is to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many jobs there are of each status that isn't finished.
    pub live_jobs: Vec<(JobStatus, u64)>,
    /// How long the oldest delivery that isn't sent has waited, for each controller that has any.
    pub oldest_deliveries: Vec<(ControllerId, Duration)>,
}
