//! Deadlines.

use std::fmt;
use std::time::{Duration, Instant};

use tokio::time::{timeout, timeout_at};

/// When it is too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// After so long.
    After(Duration),
    /// At this time.
    At(Instant),
}

impl Deadline {
    /// Waits, but no longer than this.
    ///
    /// # Errors
    ///
    /// When it was too late.
    pub async fn bound<T>(self, waiting: impl Future<Output = T>) -> Result<T, Late> {
        let ended = match self {
            Self::After(time) => timeout(time, waiting).await,
            Self::At(time) => timeout_at(time.into(), waiting).await,
        };
        ended.map_err(|_| Late(self))
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(time) => write!(f, "within {time:?}"),
            Self::At(_) => f.write_str("before the deadline"),
        }
    }
}

/// It took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no answer {0}")]
pub struct Late(Deadline);
