//! Whether colours are used: as `--color` says, or else on a terminal that supports them.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that supports them.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the command line says.
static CHOSEN: OnceLock<Color> = OnceLock::new();

/// Keeps what the command line says; the first time counts.
pub(crate) fn choose(color: Color) {
    let _ = CHOSEN.set(color);
}

/// Whether standard output gets colours.
pub(crate) fn on_output() -> bool {
    wanted(std::io::stdout().is_terminal())
}

/// Whether standard error gets colours.
pub(crate) fn on_error() -> bool {
    wanted(std::io::stderr().is_terminal())
}

fn wanted(is_terminal: bool) -> bool {
    let color = CHOSEN.get().copied().unwrap_or(Color::Auto);
    decided(color, is_terminal, std::env::var_os)
}

fn decided(
    color: Color,
    is_terminal: bool,
    variable: impl Fn(&'static str) -> Option<OsString>,
) -> bool {
    let is_unset = || variable("NO_COLOR").is_none_or(|value| value.is_empty());
    let is_dumb = || variable("TERM").is_some_and(|term| term == "dumb");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && is_unset() && !is_dumb(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_comes_first_then_what_the_terminal_wants() {
        let with = |name: &'static str, value: &'static str| {
            move |asked: &'static str| (asked == name).then(|| OsString::from(value))
        };
        assert!(decided(Color::Auto, true, with("TERM", "xterm")));
        assert!(decided(Color::Auto, true, with("NO_COLOR", "")));
        assert!(!decided(Color::Auto, true, with("NO_COLOR", "1")));
        assert!(!decided(Color::Auto, true, with("TERM", "dumb")));
        assert!(!decided(Color::Auto, false, with("TERM", "xterm")));
        assert!(decided(Color::Always, false, with("NO_COLOR", "1")));
        assert!(!decided(Color::Never, true, with("TERM", "xterm")));
    }
}
