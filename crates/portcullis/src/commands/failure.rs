//! How a command without an answer ends, for those that read configurations or ask a server.

use portcullis_document::Faults;

use super::text::error::{faults_text, lines};
use super::text::plain::printable;
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl std::fmt::Display) -> Self {
        Self {
            exit,
            message: format!("error: {message}"),
        }
    }

    /// Faults of a configuration, which say themselves where they are.
    pub(super) fn faults(faults: &Faults) -> Self {
        Self {
            exit: Exit::Invalid,
            message: faults_text(faults),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::new(error.exit(), error)
    }
}

/// Ends a command, with a word about what is wrong.
pub(super) fn ended(done: Result<Exit, Failure>) -> Exit {
    done.unwrap_or_else(|failure| {
        output::tell(&lines(&failure.message));
        failure.exit
    })
}

/// Tells something that is good to know.
pub(super) fn remark(text: &str) {
    output::hint(&format!("note: {}", printable(text)));
}
