//! What standard output is: a terminal of some width, with colours or without.

use std::io::IsTerminal;

use crate::colors;

/// How to print to standard output.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::commands) struct Terminal {
    /// Columns; none where output goes to a file or another program.
    pub(in crate::commands) width: Option<usize>,
    pub(in crate::commands) has_colours: bool,
}

/// What a word says, so that it is seen at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Tone {
    Good,
    Bad,
    Odd,
    /// Of little interest.
    Faint,
}

impl Tone {
    /// What a verdict or a state says, by the words of all commands; a word of another version says nothing.
    pub(in crate::commands) fn of_state(word: &str) -> Option<Self> {
        Some(match word {
            "yes" | "allow" | "allowed" | "accepted" | "success" | "delivered" | "done"
            | "enabled" | "normal" | "met" | "running" => Self::Good,
            "no" | "deny" | "denied" | "failed" | "error" | "timeout" | "suspended"
            | "discarding" | "discarded" => Self::Bad,
            "created" | "preparing" | "pending" | "waiting" | "paused" | "results paused"
            | "dry_run" | "expired" => Self::Odd,
            "canceled" | "skipped" | "disabled" | "-" => Self::Faint,
            _ => return None,
        })
    }
}

impl Terminal {
    /// The same, with a margin on the left.
    pub(in crate::commands) fn indented(self, by: usize) -> Self {
        Self {
            width: self.width.map(|width| width.saturating_sub(by)),
            ..self
        }
    }

    /// What standard output is.
    pub(in crate::commands) fn of_output() -> Self {
        let width = std::io::stdout().is_terminal().then(|| {
            let size = terminal_size::terminal_size();
            size.map_or(80, |(width, _)| usize::from(width.0))
        });
        Self {
            width,
            has_colours: colors::on_output(),
        }
    }

    /// A yes, or a no, so that it is seen.
    pub(in crate::commands) fn answer(self, text: &str, is_yes: bool) -> String {
        self.word(text, if is_yes { Tone::Good } else { Tone::Bad })
    }

    /// A word in the colour of what it says.
    pub(in crate::commands) fn word(self, text: &str, tone: Tone) -> String {
        self.styled(
            text,
            match tone {
                Tone::Good => "32",
                Tone::Bad => "1;31",
                Tone::Odd => "33",
                Tone::Faint => "2",
            },
        )
    }

    /// A heading.
    pub(in crate::commands) fn heading(self, text: &str) -> String {
        self.styled(text, "1")
    }

    fn styled(self, text: &str, style: &str) -> String {
        match self.has_colours {
            false => text.to_owned(),
            true => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        }
    }
}
