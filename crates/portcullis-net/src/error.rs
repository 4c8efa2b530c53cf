//! Errors of the client.

use std::error::Error as StdError;
use std::io;

use portcullis_core::system_error::reason;

use crate::{Late, TrustError};

/// Why there is no answer. It contains nothing that the other end sent, except the names in certificates.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// TLS could not be set up.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The connection failed.
    #[error("can't connect: {}", reason(.0))]
    Connect(io::Error),
    /// The server is not one that may be connected to.
    #[error("can't connect: private and loopback addresses are not allowed")]
    NotPublic,
    /// The server is not one that may be connected to, although private networks are.
    #[error("can't connect: link-local and multicast addresses are not allowed")]
    LinkLocal,
    /// The host can't have a certificate.
    #[error("invalid host name for TLS")]
    ServerName,
    /// The handshake failed.
    #[error("TLS failed: {}", reason(.0))]
    Tls(io::Error),
    /// A path or header that no request can have.
    #[error("invalid request: {0}")]
    Request(hyper::http::Error),
    /// The exchange broke off, or is not HTTP.
    #[error("request failed: {}", with_cause(.0))]
    Exchange(hyper::Error),
    /// The answer is too large.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// The time is over.
    #[error(transparent)]
    Late(#[from] Late),
    /// Nothing more came.
    #[error("no data for {0:?}")]
    Silent(std::time::Duration),
}

impl Error {
    /// Whether the other end doesn't seem to speak TLS.
    pub fn is_without_tls(&self) -> bool {
        let Self::Tls(error) = self else {
            return false;
        };
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        matches!(cause, Some(rustls::Error::InvalidMessage(_)))
    }

    /// Whether the other end doesn't speak HTTP.
    pub fn is_without_http(&self) -> bool {
        matches!(self, Self::Exchange(error) if error.is_parse())
    }

    /// Whether the other end broke the connection off.
    pub fn is_reset(&self) -> bool {
        let is_reset = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
        match self {
            Self::Connect(error) | Self::Tls(error) => is_reset(error),
            Self::Exchange(error) => {
                let cause = error.source().and_then(|cause| cause.downcast_ref());
                cause.is_some_and(is_reset)
            }
            _ => false,
        }
    }

    /// Whether the system doesn't let us connect, such as to a socket of another user.
    pub fn is_permission_denied(&self) -> bool {
        matches!(self, Self::Connect(error) if error.kind() == io::ErrorKind::PermissionDenied)
    }
}

fn with_cause(error: &hyper::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
