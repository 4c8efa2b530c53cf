//! Messages on the terminal: every error begins with `error:`, every warning with
//! `warning:`.

use portcullis_document::{Fault, Faults};

use super::plain::printable;
use crate::colors;
use crate::output;

/// Tells it; further lines say more.
pub(in crate::commands) fn tell(text: &str) {
    output::tell(&format!("{} {}", word("error:", "1;31"), lines(text)));
}

/// Tells what is wrong with a command line, and where to read more.
pub(in crate::commands) fn usage(command: &str, text: &str) {
    tell(text);
    output::tell(&format!(
        "\nFor more information, try 'portcullis {command} --help'."
    ));
}

/// Tells what is odd, but not wrong.
pub(in crate::commands) fn warn(text: &str) {
    output::tell(&format!("{} {}", word("warning:", "1;33"), lines(text)));
}

/// Tells faults, each with its place.
pub(in crate::commands) fn faults<'a>(all: impl IntoIterator<Item = &'a Fault>) {
    for fault in all {
        output::tell(&format!("{} {fault:#}", word("error:", "1;31")));
    }
}

/// The same as a text.
pub(in crate::commands) fn faults_text(all: &Faults) -> String {
    let each = all.iter().map(|fault| format!("error: {fault:#}"));
    each.collect::<Vec<_>>().join("\n")
}

/// Each line by itself holds nothing but text.
pub(in crate::commands) fn lines(text: &str) -> String {
    let clean: Vec<_> = text.lines().map(printable).collect();
    clean.join("\n")
}

/// A word for standard error, in a style of terminals.
pub(in crate::commands) fn word(text: &str, style: &str) -> String {
    match colors::on_error() {
        true => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_hold_only_text() {
        assert_eq!(lines("a\u{1b}[2J\n  b\tc"), "a\\u{1b}[2J\n  b\\tc");
    }
}
