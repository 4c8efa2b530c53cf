//! What a connection's identity rests on, and whether that still holds.
//!
//! A client's certificate is verified once, in the handshake. Connections last longer than that: when
//! the listener's trusted authorities change, or the certificate has expired, what was verified no
//! longer counts, and the client has to connect again.

use std::time::SystemTime;

use portcullis_core::clock;

/// Whom a listener takes connections from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Everybody, in the clear.
    Plain,
    /// Everybody, over TLS.
    Encrypted,
    /// Clients with a certificate of these authorities: the digest of all of them.
    Clients([u8; 32]),
}

/// What a listener wants of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// That they go on, if they began with this trust.
    Open(Trust),
    /// That they finish what is under way.
    Ending,
}

/// What one connection's identity rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Whom the listener trusted when it began.
    pub(crate) trust: Trust,
    /// When the client's certificate expires.
    pub(crate) expires: Option<SystemTime>,
}

/// Why a connection's identity no longer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lapsed {
    /// The listener trusts others now.
    Trust,
    /// The certificate has expired.
    Certificate,
}

impl Standing {
    /// Of a connection without a certificate.
    pub(crate) fn of(trust: Trust) -> Self {
        Self {
            trust,
            expires: None,
        }
    }

    /// Whether it no longer counts at a listener that has this trust now.
    pub(crate) fn lapsed(&self, now: Trust) -> Option<Lapsed> {
        if self.trust != now {
            return Some(Lapsed::Trust);
        }
        let is_expired = self.expires.is_some_and(|end| end <= clock::wall());
        is_expired.then_some(Lapsed::Certificate)
    }
}

impl Lapsed {
    /// What is said to the client.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Trust => "the trusted CA certificates of this listener changed: reconnect",
            Self::Certificate => "your certificate expired: reconnect with a new one",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_lapses_with_its_authorities_or_its_certificate() {
        let trust = Trust::Clients([1; 32]);
        let good = Standing::of(trust);
        assert_eq!(good.lapsed(trust), None);
        for other in [Trust::Plain, Trust::Encrypted, Trust::Clients([2; 32])] {
            assert_eq!(good.lapsed(other), Some(Lapsed::Trust));
        }
        let expired = Standing {
            expires: Some(SystemTime::UNIX_EPOCH),
            ..good
        };
        assert_eq!(expired.lapsed(trust), Some(Lapsed::Certificate));
    }
}
