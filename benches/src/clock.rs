//! The benchmark's own clock; the product reads its own in one place too.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Now, on the clock that never goes back.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this program that reads the clock"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Now, on the clock of people.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this program that reads the clock"
)]
pub(crate) fn wall() -> SystemTime {
    SystemTime::now()
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> u64 {
    wall()
        .duration_since(UNIX_EPOCH)
        .as_ref()
        .map_or(0, Duration::as_secs)
}
