//! Wall-clock times, computed from now.

use std::time::{Duration, Instant};

use portcullis_core::clock;

use crate::otlp::nanoseconds;

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) now: Instant,
    /// Nanoseconds since 1970.
    pub(crate) wall: u64,
}

impl Times {
    pub(crate) fn now() -> Self {
        Self {
            now: clock::monotonic(),
            wall: nanoseconds(clock::wall()),
        }
    }

    /// Nanoseconds since 1970, of a time that is over.
    pub(crate) fn of(self, time: Instant) -> u64 {
        let ago = self.now.saturating_duration_since(time).as_nanos();
        self.wall
            .saturating_sub(u64::try_from(ago).unwrap_or(u64::MAX))
    }

    /// So long ago.
    pub(crate) fn before(self, duration: Duration) -> Instant {
        self.now.checked_sub(duration).unwrap_or(self.now)
    }
}
