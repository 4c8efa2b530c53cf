//! The one place that prints: data on standard output, words on standard error.
#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::io::Write;

/// Prints data. A reader that went away is nobody's fault.
pub(crate) fn data(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Tells the person at the terminal.
pub(crate) fn tell(text: &str) {
    eprintln!("{text}");
}
