//! Waiting for a condition instead of for a time.

use std::time::Duration;

use portcullis_core::clock::Stopwatch;

/// How long anything may take before a test gives up: generous, the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(20);

/// Asks until there is something, and returns it.
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let waiting = Stopwatch::start();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(waiting.elapsed() < PATIENCE, "never happened: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Asks until it is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    eventually(what, || is_so().then_some(()));
}
