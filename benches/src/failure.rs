//! Why the benchmark stopped, in words.

use std::fmt;

/// What went wrong, from the outermost step to the cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure(String);

/// The outcome of a step.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure that says this.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says what was tried when something fails.
pub(crate) trait Context<T> {
    /// The failure with these words in front.
    fn context(self, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|cause| Failure(format!("{what}: {cause}")))
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.ok_or_else(|| Failure(what.to_string()))
    }
}
