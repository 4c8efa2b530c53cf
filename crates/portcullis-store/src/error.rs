//! Errors of a store.

use std::fmt;

/// Why the store didn't do it. The texts name the store, and never a password.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing is there: no file, no database, or one without our tables.
    #[error("there is no store at {location}: {reason}")]
    Missing {
        /// The store.
        location: String,
        /// What is missing.
        reason: String,
    },
    /// It was made by a newer version.
    #[error(
        "the store at {location} was created by a newer version: it has schema version {found}, \
         this program supports {known}"
    )]
    Newer {
        /// The store.
        location: String,
        /// The version of its tables.
        found: u64,
        /// The newest that is known.
        known: u64,
    },
    /// It was made by an older version, and was opened for reading only.
    #[error(
        "the store at {location} was created by an older version: it has schema version {found}, \
         this program needs {needed}; a server of this version migrates it"
    )]
    Older {
        /// The store.
        location: String,
        /// The version of its tables.
        found: u64,
        /// What is needed.
        needed: u64,
    },
    /// Another connection holds it, or it took too long: try again.
    #[error("the store at {location} is busy: {reason}")]
    Busy {
        /// The store.
        location: String,
        /// What the database said.
        reason: String,
    },
    /// It can't be reached, or can't write: try again later.
    #[error("the store at {location} is unavailable: {reason}")]
    Unavailable {
        /// The store.
        location: String,
        /// What the database or the system said.
        reason: String,
    },
    /// What is stored there can't be read.
    #[error("the store at {location} is damaged: {reason}")]
    Corrupt {
        /// The store.
        location: String,
        /// What was found.
        reason: String,
    },
    /// Anything else.
    #[error("the store at {location}: {reason}")]
    Other {
        /// The store.
        location: String,
        /// What the database or the system said.
        reason: String,
    },
}

impl StoreError {
    /// Whether the same may succeed when tried again.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Unavailable { .. })
    }

    pub(crate) fn at(location: &dyn fmt::Display, failure: Failure) -> Self {
        let location = location.to_string();
        let reason = failure.reason;
        match failure.kind {
            Kind::Missing => Self::Missing { location, reason },
            Kind::Newer { found, known } => Self::Newer {
                location,
                found,
                known,
            },
            Kind::Older { found, needed } => Self::Older {
                location,
                found,
                needed,
            },
            Kind::Busy | Kind::Conflict => Self::Busy { location, reason },
            Kind::Unavailable => Self::Unavailable { location, reason },
            Kind::Corrupt => Self::Corrupt { location, reason },
            Kind::Other => Self::Other { location, reason },
        }
    }
}

/// What is wrong with the address of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LocationError(pub(crate) String);

/// What went wrong, before it is said where.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) reason: String,
}

/// The sort of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Missing,
    Newer {
        found: u64,
        known: u64,
    },
    Older {
        found: u64,
        needed: u64,
    },
    Busy,
    /// With another transaction, which went ahead: the same succeeds if it is done again at once.
    Conflict,
    Unavailable,
    Corrupt,
    Other,
}

impl Failure {
    pub(crate) fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
        }
    }

    pub(crate) fn corrupt(reason: impl Into<String>) -> Self {
        Self::new(Kind::Corrupt, reason)
    }
}
