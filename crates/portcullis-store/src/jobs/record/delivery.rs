//! What is to be sent to a controller, and what became of it.

use portcullis_core::vocabulary;
use portcullis_jobs::{ControllerId, JobId, Timestamp};
use serde::{Deserialize, Serialize};

/// The number of a delivery.
pub type DeliveryId = u64;

vocabulary! {
    /// Where a delivery is.
    pub enum DeliveryState {
        /// It is to be sent, or sent again.
        Waiting = "waiting",
        /// It was sent, and the controller will call back.
        Delivered = "delivered",
        /// It is no longer tried, or no longer wanted.
        Failed = "failed",
        /// The verdict is there.
        Done = "done",
    }
}

/// One try to send a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryTry {
    /// When.
    pub at: Timestamp,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
}

/// A delivery: one attempt of a job for one controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its number.
    pub id: DeliveryId,
    /// The path of the job's project.
    pub project: String,
    /// The job.
    pub job: JobId,
    /// The attempt of the job.
    pub attempt: u32,
    /// The controller.
    pub controller: ControllerId,
    /// Where it is.
    pub state: DeliveryState,
    /// The same for every try.
    pub webhook_id: String,
    /// The hash of its callback token, which no other delivery has.
    pub token_hash: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is sent next; while it is claimed, when it is sent again if nothing is heard.
    pub next_at: Timestamp,
    /// Until when it is claimed.
    pub leased_until: Option<Timestamp>,
    /// Who has or had claimed it.
    pub leased_by: Option<String>,
    /// When an answer counts no longer.
    pub deadline: Timestamp,
    /// What was tried, the oldest first.
    pub tries: Vec<DeliveryTry>,
    /// A digest of the answer that ended it.
    pub answer: Option<String>,
}
