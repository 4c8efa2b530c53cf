//! What standard output is: a terminal of some width, with colours or without.

use std::io::IsTerminal;

/// How to print for whoever reads.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::commands) struct Terminal {
    /// Columns; none where output goes to a file or another program.
    pub(in crate::commands) width: Option<usize>,
    pub(in crate::commands) has_colours: bool,
}

impl Terminal {
    /// What standard output is.
    pub(in crate::commands) fn of_output() -> Self {
        if !std::io::stdout().is_terminal() {
            return Self::default();
        }
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let is_unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            width: Some(width.unwrap_or(80)),
            has_colours: is_unset("NO_COLOR") && !is_dumb,
        }
    }

    /// A yes, or a no, so that it is seen.
    pub(in crate::commands) fn answer(self, text: &str, is_yes: bool) -> String {
        match (self.has_colours, is_yes) {
            (false, _) => text.to_owned(),
            (true, true) => format!("\u{1b}[32m{text}\u{1b}[0m"),
            (true, false) => format!("\u{1b}[1;31m{text}\u{1b}[0m"),
        }
    }

    /// A heading.
    pub(in crate::commands) fn heading(self, text: &str) -> String {
        match self.has_colours {
            false => text.to_owned(),
            true => format!("\u{1b}[1m{text}\u{1b}[0m"),
        }
    }
}
