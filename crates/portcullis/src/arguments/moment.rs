//! Points in time on the command line: `24h` ago, a day, or an exact time.

use std::time::SystemTime;

use portcullis_core::clock;
use portcullis_document::since;

/// A point in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    /// As a server takes it.
    pub(crate) text: String,
    /// The same for this machine.
    pub(crate) at: SystemTime,
}

/// Reads `24h`, `2026-10-01` (midnight, UTC) or `2026-10-01T12:00:00Z`.
pub(crate) fn moment(text: &str) -> Result<Moment, String> {
    Ok(Moment {
        text: text.to_owned(),
        at: since::parse(text, clock::wall())?,
    })
}
