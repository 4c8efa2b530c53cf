//! What a listener is set up to do, and the limits of its connections.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use portcullis_config::{Service, Style};
use portcullis_core::clock;

use super::tls::TlsSetup;
use super::trust::Trust;

/// What a listener does, changed by a reload while it stays bound.
#[derive(Debug)]
pub(crate) struct ListenerSetup {
    pub(crate) name: String,
    pub(crate) serves: Vec<Service>,
    pub(crate) style: Style,
    pub(crate) tls: Option<TlsSetup>,
    pub(crate) limits: ConnectionLimits,
    /// The most connections it may have, if that is configured.
    pub(crate) connections: Option<u32>,
    /// Whether browsers shall come over TLS only.
    pub(crate) is_strict: bool,
}

impl ListenerSetup {
    /// Whom it takes connections from.
    pub(crate) fn trust(&self) -> Trust {
        self.tls.as_ref().map_or(Trust::Plain, |tls| tls.trust)
    }
}

/// Limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    pub(crate) headers: usize,
    pub(crate) head_time: Duration,
    pub(crate) rest_time: Duration,
    pub(crate) write_time: Duration,
    pub(crate) age: Duration,
}

impl ConnectionLimits {
    /// When a connection that begins now is old: up to a tenth earlier or later than others, so that
    /// those that began together don't all come again together.
    pub(super) fn retires_at(&self) -> Option<Instant> {
        let chance = RandomState::new().build_hasher().finish() % 201;
        let permille = 900 + u32::try_from(chance).unwrap_or_default();
        let age = self.age.checked_mul(permille)? / 1000;
        clock::monotonic().checked_add(age)
    }
}
