//! Waiting for a condition instead of for a time.

use std::time::{Duration, Instant};

/// How long anything may take before a test gives up: generous, the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(10);

/// Asks until there is something, and returns it.
#[track_caller]
pub fn eventually<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    eventually_within(what, PATIENCE, ask)
}

/// The same with another limit.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "the clock of the product is in a crate whose tests use this one"
)]
pub fn eventually_within<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(
            start.elapsed() < limit,
            "never happened within {limit:?}: {what}"
        );
        std::thread::sleep(PAUSE);
    }
}

/// Asks until it is so.
#[track_caller]
pub fn until(what: &str, is_so: impl FnMut() -> bool) {
    until_within(what, PATIENCE, is_so);
}

/// The same with another limit.
#[track_caller]
pub fn until_within(what: &str, limit: Duration, mut is_so: impl FnMut() -> bool) {
    eventually_within(what, limit, || is_so().then_some(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_again_until_it_is_so() {
        let mut left = 3;
        let found = eventually("three", || {
            left -= 1;
            (left == 0).then_some("there")
        });
        assert_eq!((found, left), ("there", 0));
    }

    #[test]
    #[should_panic(expected = "never happened within 0ns: the end of the world")]
    fn waiting_ends() {
        until_within("the end of the world", Duration::ZERO, || false);
    }
}
