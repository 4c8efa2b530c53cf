//! For whom certificates are made, and for how long.

use std::collections::BTreeSet;
use std::time::Duration;

/// How long an authority lasts, in lives of what it signs.
const LIVES: u32 = 4;
/// The longest that a new authority is published before anything it signed is served.
const LONGEST_OVERLAP: Duration = Duration::from_secs(60);
/// The longest that a first certificate is not yet counted as trusted although its authority is published.
const LONGEST_SETTLING: Duration = Duration::from_secs(2);
/// The longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The shortest one.
const SHORTEST_PAUSE: Duration = Duration::from_millis(200);

/// For whom certificates are made, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Terms {
    /// The name of the authority: its common name.
    pub owner: String,
    /// The host names and addresses that a certificate must be good for.
    pub names: BTreeSet<String>,
    /// How long a certificate is valid.
    pub validity: Duration,
    /// How long before its end it is renewed.
    pub renew_before: Duration,
}

impl Terms {
    /// How long an authority is valid.
    pub fn authority_validity(&self) -> Duration {
        self.validity.saturating_mul(LIVES)
    }

    /// An authority that lasts less than this is replaced: until its successor signs, and longer, it must be
    /// able to sign certificates that last as long as others.
    pub fn authority_renew_before(&self) -> Duration {
        self.validity.saturating_add(self.renew_before)
    }

    /// How long a new authority must have been published before a certificate of it is served. API servers
    /// learn of a change of a webhook configuration by a watch, which takes milliseconds.
    pub fn overlap(&self) -> Duration {
        (self.renew_before / 4).min(LONGEST_OVERLAP)
    }

    /// How long the authority of a replica's first certificate must have been published before API servers
    /// are known to trust it.
    pub fn settling(&self) -> Duration {
        self.overlap().min(LONGEST_SETTLING)
    }

    /// The time between two looks at the Secret and the webhook configurations.
    pub fn pause(&self) -> Duration {
        (self.renew_before / 20).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }
}
