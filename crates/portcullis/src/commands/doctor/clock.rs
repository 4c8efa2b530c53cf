//! Whether other clocks agree with the one of this machine: certificates, tokens and deadlines depend on it.

use std::time::{Duration, SystemTime};

use super::finding::Finding;
use crate::commands::text::plain::roughly;

const CHECK: &str = "clock";
/// Answers of HTTP have whole seconds, and take some time.
const SMALL: Duration = Duration::from_secs(5);
/// More than what tokens and certificates are given.
const LARGE: Duration = Duration::from_secs(60);

/// Compares another clock with this one.
pub(super) fn compared(place: &str, theirs: SystemTime, ours: SystemTime) -> Finding {
    let (apart, word) = match theirs.duration_since(ours) {
        Ok(ahead) => (ahead, "ahead of"),
        Err(behind) => (behind.duration(), "behind"),
    };
    let message = format!(
        "its clock is {} {word} the one of this machine",
        roughly(apart.as_secs())
    );
    let fix = "synchronize both clocks with NTP: tokens and certificates would not be valid when they should";
    if apart <= SMALL {
        return Finding::ok(
            CHECK,
            place,
            "its clock agrees with the one of this machine",
        );
    }
    match apart <= LARGE {
        true => Finding::warning(CHECK, place, message, fix),
        false => Finding::problem(CHECK, place, message, fix),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn clocks_may_differ_by_seconds() {
        let ours = SystemTime::UNIX_EPOCH + Duration::from_secs(100_000);
        for (seconds, expected) in [(1, State::Ok), (30, State::Warning), (600, State::Problem)] {
            let apart = Duration::from_secs(seconds);
            for theirs in [ours + apart, ours - apart] {
                let found = compared("the API server", theirs, ours);
                assert_eq!(found.state, expected, "{found:?}");
            }
        }
    }
}
