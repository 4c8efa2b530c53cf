//! The one place that prints.
#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::io::Write;

/// Prints data. A reader that went away is nobody's fault.
pub(crate) fn data(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Prints data piece by piece; false when the reader went away, so that nothing more is needed.
pub(crate) fn piece(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).is_ok() && out.flush().is_ok()
}

/// The same for bytes that are text already.
pub(crate) fn bytes(piece: &[u8]) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(piece).is_ok() && out.flush().is_ok()
}

/// Tells the person at the terminal.
pub(crate) fn tell(text: &str) {
    eprintln!("{text}");
}

/// Writes the line the cursor is on again.
pub(crate) fn redraw(line: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "\r\x1b[2K{line}");
    let _ = err.flush();
}
