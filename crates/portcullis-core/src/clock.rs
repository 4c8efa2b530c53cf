//! The one place where the clock is read.
//!
//! Everything else takes times as arguments, so that tests and replays choose them.

use std::time::{Duration, Instant, SystemTime};

/// Now, on the clock that never goes back.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the clock"
)]
pub fn monotonic() -> Instant {
    Instant::now()
}

/// Now, as people count.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the clock"
)]
pub fn wall() -> SystemTime {
    SystemTime::now()
}

/// Measures how long something took.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(monotonic())
    }

    /// When it was started.
    pub fn started(&self) -> Instant {
        self.0
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        monotonic().saturating_duration_since(self.0)
    }
}
