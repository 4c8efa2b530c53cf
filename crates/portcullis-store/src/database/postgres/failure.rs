//! What errors of PostgreSQL mean.

use std::error::Error as _;

use postgres::error::SqlState;

use crate::error::{Failure, Kind};

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else {
            let mut reason = error.to_string();
            let mut cause = error.source();
            while let Some(error) = cause {
                reason.push_str(&format!(": {error}"));
                cause = error.source();
            }
            return Self::new(without_answer(&error), reason);
        };
        let code = said.code();
        let class = code.code().get(..2).unwrap_or_default();
        let kind = match class {
            // Connection, resources, being shut down.
            "08" | "53" | "57" | "58" if *code != SqlState::QUERY_CANCELED => Kind::Unavailable,
            // Too slow, locked.
            "57" | "55" => Kind::Busy,
            // Deadlock, serialization.
            "40" => Kind::Conflict,
            "XX" if *code != SqlState::INTERNAL_ERROR => Kind::Corrupt,
            _ if is_over(code) => Kind::Unavailable,
            _ if *code == SqlState::INVALID_CATALOG_NAME || *code == SqlState::UNDEFINED_TABLE => {
                Kind::Missing
            }
            _ => Kind::Other,
        };
        Self::new(kind, format!("{} ({})", said.message(), code.code()))
    }
}

/// Whether a connection is of no use after this error, though it may still be open: what came over it made no sense,
/// or its server writes no more, or has ended the transaction because nothing was heard.
pub(super) fn ends_session(error: &postgres::Error) -> bool {
    match error.code() {
        Some(code) => is_over(code),
        None => error.is_closed() || without_answer(error) == Kind::Unavailable,
    }
}

fn is_over(code: &SqlState) -> bool {
    [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ]
    .contains(code)
}

/// The kind of an error that the server didn't send.
fn without_answer(error: &postgres::Error) -> Kind {
    let text = error.to_string();
    // The library distinguishes them by their messages only.
    let other = [
        "invalid",
        "authentication",
        "serializing",
        "expected",
        "TLS",
        "encoding",
    ];
    if text.starts_with("unexpected message") {
        return Kind::Unavailable;
    }
    match other.iter().any(|part| text.contains(part)) {
        true => Kind::Other,
        false => Kind::Unavailable,
    }
}
