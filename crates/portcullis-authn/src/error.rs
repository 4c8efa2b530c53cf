//! Why a token is rejected.

use std::fmt;

use portcullis_core::text::{printable, shortened};

/// Why a token is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TokenError {
    /// The kind of problem, machine-readable.
    pub code: Code,
    /// What is wrong, human-readable; never what the token holds, beyond its issuer and times.
    pub message: String,
    /// The realm to name in the challenge.
    pub realm: String,
}

/// The kind of problem with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// There is no token.
    MissingToken,
    /// The header is not `Bearer TOKEN`.
    InvalidFormat,
    /// This is not a token at all.
    Undecodable,
    /// Not signed by a trusted key, or with an algorithm that is not accepted.
    BadSignature,
    /// Too old.
    Expired,
    /// From the future.
    NotYetValid,
    /// For another audience.
    WrongAudience,
    /// From an unknown issuer.
    UnknownIssuer,
    /// A claim that is needed isn't there, or is of the wrong type.
    MissingClaim,
    /// `zuul.admin` is not a list of names.
    BadAdminClaim,
    /// `zuul.admin` is nothing this issuer may say.
    AdminClaimNotAllowed,
    /// The keys of the provider can't be fetched now.
    KeysUnavailable,
}

impl Code {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingToken => "missing_token",
            Self::InvalidFormat => "invalid_format",
            Self::Undecodable => "undecodable",
            Self::BadSignature => "bad_signature",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::WrongAudience => "wrong_audience",
            Self::UnknownIssuer => "unknown_issuer",
            Self::MissingClaim => "missing_claim",
            Self::BadAdminClaim => "bad_admin_claim",
            Self::AdminClaimNotAllowed => "admin_claim_not_allowed",
            Self::KeysUnavailable => "keys_unavailable",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A problem whose realm is said by who knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Problem {
    /// Of this kind, in these words.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The same, in this realm.
    pub(crate) fn in_realm(self, realm: &str) -> TokenError {
        TokenError {
            code: self.code,
            message: self.message,
            realm: realm.to_owned(),
        }
    }
}

/// Text from outside, shortened and on one line.
pub(crate) fn shown(text: &str) -> String {
    printable(&shortened(text, 120)).into_owned()
}
