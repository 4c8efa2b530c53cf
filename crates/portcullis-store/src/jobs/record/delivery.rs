//! What is to be sent to a controller, and what became of it.

use portcullis_core::vocabulary;
use portcullis_jobs::{ControllerId, JobId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::database::Row;
use crate::error::Failure;
use crate::jobs::column;

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

impl Delivery {
    /// What [`Delivery::read`] reads, in its order.
    pub(in crate::jobs) const SELECT: &str = "SELECT id, project, job, attempt, controller, state, webhook_id, token_hash, \
                                              created_at, next_at, leased_until, leased_by, deadline, tries, answer \
                                              FROM deliveries";

    /// The delivery in a row of [`Delivery::SELECT`].
    pub(in crate::jobs) fn read(mut row: Row) -> Result<Self, Failure> {
        Ok(Self {
            id: column::read_id(&mut row)?,
            project: row.text()?,
            job: column::read_id(&mut row)?,
            attempt: u32::try_from(row.number()?).unwrap_or(u32::MAX),
            controller: column::read_id(&mut row)?,
            state: column::read_word(&mut row)?,
            webhook_id: row.text()?,
            token_hash: row.text()?,
            created_at: column::read_time(&mut row)?,
            next_at: column::read_time(&mut row)?,
            leased_until: column::read_optional_time(&mut row)?,
            leased_by: row.optional_text()?,
            deadline: column::read_time(&mut row)?,
            tries: column::read_json(&mut row)?,
            answer: row.optional_text()?,
        })
    }
}
