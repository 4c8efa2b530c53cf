//! Contexts: servers by name, with what is needed to ask them.
//!
//! They are in `portcullis/config.yaml` below the directory for configurations of the user. The file holds tokens: it is
//! for its owner alone, and one that others can read or write is rejected. Changes are made under a lock, and are seen
//! whole or not at all.

mod file;
mod renewal;
mod store;

use std::sync::OnceLock;

pub(crate) use self::file::{Context, Contexts, SavedLogin};
pub(crate) use self::renewal::current_token;
pub(crate) use self::store::{change, read};

/// The variable that names a context.
const VARIABLE: &str = "PORTCULLIS_CONTEXT";

/// What the command line says.
static CHOSEN: OnceLock<Option<String>> = OnceLock::new();

/// Why contexts can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContextError {
    /// There is no context of this name.
    #[error("there is no context `{0}`: `portcullis context list` shows them")]
    Unknown(String),
    /// The file can't be used.
    #[error("{0}")]
    File(String),
    /// One must sign in again.
    #[error("{0}")]
    SignedOut(String),
    /// The provider does not answer.
    #[error("{0}")]
    Unreachable(String),
}

/// How a context was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// By the command line.
    Flag(String),
    /// By the environment.
    Variable(String),
    /// Not at all: the current one of the file.
    Current,
}

/// Keeps what the command line says; the first time counts.
pub(crate) fn choose(name: Option<String>) {
    let _ = CHOSEN.set(name.filter(|name| !name.is_empty()));
}

/// Which context is meant.
pub(crate) fn choice() -> Choice {
    if let Some(name) = CHOSEN.get().cloned().flatten() {
        return Choice::Flag(name);
    }
    let variable = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    variable.map_or(Choice::Current, Choice::Variable)
}
