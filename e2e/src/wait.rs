//! Waiting for something to become true.

use std::thread::sleep;
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(20);

/// Asks `condition` until it holds, for `limit` at most; then fails, naming `what`.
#[track_caller]
pub fn until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    until_some(what, limit, || condition().then_some(()));
}

/// Asks for a value until there is one, for `limit` at most; then fails, naming `what`.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "the product's one clock is not for those who judge it from outside"
)]
pub fn until_some<T>(what: &str, limit: Duration, mut value: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = value() {
            return value;
        }
        assert!(
            start.elapsed() < limit,
            "waited {limit:?} in vain for {what}"
        );
        sleep(STEP);
    }
}
