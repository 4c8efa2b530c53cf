//! How much is printed to standard error: `--quiet` and `--verbose`.

use std::sync::OnceLock;

/// What the command line asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Verbosity {
    is_quiet: bool,
    details: u8,
}

/// What the command line says.
static CHOSEN: OnceLock<Verbosity> = OnceLock::new();

impl Verbosity {
    /// As the flags say: `--quiet`, and how often `--verbose` is given.
    pub(crate) fn new(is_quiet: bool, details: u8) -> Self {
        Self { is_quiet, details }
    }

    /// What the command line asks for.
    pub(crate) fn current() -> Self {
        CHOSEN.get().copied().unwrap_or_default()
    }

    /// Whether hints, progress and closing lines are left out.
    pub(crate) fn is_quiet(self) -> bool {
        self.is_quiet
    }

    /// Whether the program says what it does: 0 not at all, 1 which files and servers it uses, 2 how.
    pub(crate) fn details(self) -> u8 {
        self.details
    }

    /// What a server logs, unless its configuration decides.
    pub(crate) fn log_filter(self) -> Option<&'static str> {
        match (self.is_quiet, self.details) {
            (true, _) => Some("warn"),
            (false, 0) => None,
            (false, 1) => Some("debug"),
            (false, _) => Some("trace"),
        }
    }
}

/// Keeps what the command line says; the first time counts.
pub(crate) fn choose(verbosity: Verbosity) {
    let _ = CHOSEN.set(verbosity);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_change_the_log_of_a_server() {
        let filter = |is_quiet, details| Verbosity::new(is_quiet, details).log_filter();
        assert_eq!(filter(false, 0), None);
        assert_eq!(filter(true, 0), Some("warn"));
        assert_eq!(
            [1, 2, 9].map(|n| filter(false, n)),
            ["debug", "trace", "trace"].map(Some)
        );
    }
}
