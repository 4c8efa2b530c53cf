//! What an evaluation reports besides its verdict, for callers that run policies without a server.

use std::fmt;
use std::sync::Arc;

use portcullis_js::{Evaluation, Replay};

/// Sees every evaluation. Without one, what policies write goes to the log.
pub(crate) trait Observer: Send + Sync + fmt::Debug {
    /// An evaluation has ended.
    fn evaluated(&self, evaluation: &Evaluation);

    /// Whether policies are asked after a denial too.
    fn asks_on(&self) -> bool {
        false
    }

    /// Whether every evaluation is made again from a record.
    fn replays(&self) -> bool {
        false
    }

    /// What is known of the request that is asked about now, if it comes from a record.
    fn replay(&self) -> Option<Arc<Replay>> {
        None
    }
}
