//! Errors of operations on jobs.

use crate::error::{Failure, StoreError};
use crate::location::Location;

/// Why an operation on jobs didn't succeed.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// The store didn't do it. Nothing of the operation took effect.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The connection was lost while the operation was committed: it may have taken effect.
    #[error("it is unknown whether the operation took effect: {0}")]
    Uncertain(StoreError),
    /// Too many operations are waiting. Nothing took effect.
    #[error("too many operations are waiting")]
    Full,
    /// The writer has ended. Nothing took effect.
    #[error("the writer has stopped")]
    Stopped,
    /// The operation panicked. Nothing of it took effect.
    #[error("the operation panicked")]
    Panicked,
    /// It was changed or deleted since it was loaded.
    #[error("{what} {id} was changed meanwhile")]
    Stale {
        /// What it is.
        what: &'static str,
        /// Its number.
        id: u64,
    },
    /// A draft can't do it: it needs a database.
    #[error("the operation needs a database")]
    Draft,
    /// Another controller on the same level and path has this name.
    #[error("duplicate controller name `{0}`")]
    NameTaken(String),
}

impl JobsError {
    /// Whether the same may succeed when tried again. An operation that may have taken effect is not to be tried
    /// again blindly, so that doesn't count.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Store(error) => error.is_temporary(),
            Self::Full => true,
            _ => false,
        }
    }

    pub(super) fn at(location: &Location, failure: Failure) -> Self {
        Self::Store(StoreError::at(location, failure))
    }

    pub(super) fn uncertain(location: &Location, failure: Failure) -> Self {
        Self::Uncertain(StoreError::at(location, failure))
    }
}
