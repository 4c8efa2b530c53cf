//! Certificates as clients see them, and rotations as a whole.

mod certificates;
mod contents;
mod model;
mod steps;

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use crate::Terms;

/// A day in 2033, so that nothing here depends on today.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Certificates that last 100 s, with authorities that last 400 s.
fn terms() -> Terms {
    Terms {
        owner: "portcullis/portcullis-tls".to_owned(),
        names: names(&["portcullis.portcullis.svc", "127.0.0.1"]),
        validity: seconds(100),
        renew_before: seconds(40),
    }
}
