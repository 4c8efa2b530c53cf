//! What an evaluation says beside its verdict, for those who run policies without a server.

use std::fmt;

use portcullis_js::Evaluation;

/// Sees every evaluation. Without one, what policies write goes to the log.
pub(crate) trait Observer: Send + Sync + fmt::Debug {
    /// An evaluation has ended.
    fn evaluated(&self, evaluation: &Evaluation);
}
