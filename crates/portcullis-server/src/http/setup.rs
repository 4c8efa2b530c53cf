//! The setup of a listener, and the limits of its connections.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Deref;
use std::time::{Duration, Instant};

use portcullis_config::{Limits, Listener, Service};
use portcullis_core::clock;

use super::tls::TlsSetup;
use super::trust::Trust;

/// What a listener does, changed by a reload while it stays bound.
#[derive(Debug)]
pub(crate) struct ListenerSetup {
    /// As it is configured.
    listener: Listener,
    /// What its TLS became.
    pub(crate) tls: Option<TlsSetup>,
    pub(crate) limits: ConnectionLimits,
    /// Whether browsers shall come over TLS only.
    pub(crate) is_strict: bool,
}

/// Gives access to what is configured.
impl Deref for ListenerSetup {
    type Target = Listener;

    fn deref(&self) -> &Listener {
        &self.listener
    }
}

impl ListenerSetup {
    /// The setup of a listener whose TLS is built.
    pub(crate) fn new(listener: Listener, tls: Option<TlsSetup>, limits: ConnectionLimits) -> Self {
        let is_for_browsers = listener.serves(Service::Api) || listener.serves(Service::Web);
        // A browser would follow it for every port of `localhost`.
        let is_real = tls.as_ref().is_some_and(|tls| !tls.is_development);
        Self {
            listener,
            tls,
            limits,
            is_strict: is_real && is_for_browsers,
        }
    }

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

impl From<&Limits> for ConnectionLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            headers: usize::try_from(limits.headers.bytes()).unwrap_or(usize::MAX / 4),
            head_time: limits.header_timeout.into(),
            rest_time: limits.idle_timeout.into(),
            write_time: limits.write_timeout.into(),
            age: limits.max_connection_age.into(),
        }
    }
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
