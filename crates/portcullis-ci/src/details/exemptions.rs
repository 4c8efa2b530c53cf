//! Exemptions, as the API shows them.

use portcullis_jobs::{Exemption, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// An exemption with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Exemption")]
pub struct ExemptionDetails {
    /// The exemption.
    #[serde(flatten)]
    pub exemption: Exemption,
    /// Whole seconds until it expires.
    pub expires_in_seconds: u64,
    /// How many denials did not count because of it.
    pub uses: u64,
    /// When the last of these was; `null` if there is none.
    pub last_used_at: Option<Timestamp>,
}

impl ExemptionDetails {
    /// One that was not used.
    pub(crate) fn new(exemption: Exemption, now: Timestamp) -> Self {
        Self {
            expires_in_seconds: exemption.body.until.since(now).as_secs(),
            exemption,
            uses: 0,
            last_used_at: None,
        }
    }
}
