//! The one place that prints.
//!
//! Output that could not be written is never success: the first failure is remembered, nothing is written
//! after it, and [`ended`] makes it the program's exit code. A reader that has enough, as in
//! `portcullis decisions export | head`, is not a failure.

use std::io::{self, Write};
use std::sync::OnceLock;

use crate::colors;
use crate::exit::Exit;

/// The first failure to write to standard output.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints data.
pub(crate) fn data(text: &str) {
    piece(text);
}

/// Prints data piece by piece; false when nothing more can be written, so that nothing more is needed.
pub(crate) fn piece(text: &str) -> bool {
    bytes(text.as_bytes())
}

/// The same for bytes that are text already.
pub(crate) fn bytes(piece: &[u8]) -> bool {
    if FAILURE.get().is_some() {
        return false;
    }
    let mut out = io::stdout().lock();
    match out.write_all(piece).and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(error) => {
            let _ = FAILURE.set(error);
            false
        }
    }
}

/// Prints a message to standard error. If that can't be written either, it is lost.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes the line the cursor is on again.
pub(crate) fn redraw(line: &str) {
    let mut err = io::stderr().lock();
    let _ = write!(err, "\r\x1b[2K{line}");
    let _ = err.flush();
}

/// Prints what clap returns: help and version are data, errors are messages.
pub(crate) fn of_clap(error: &clap::Error) -> Exit {
    let text = error.render();
    if error.use_stderr() {
        let text = match colors::on_error() {
            true => text.ansi().to_string(),
            false => text.to_string(),
        };
        tell(text.trim_end());
        return Exit::Usage;
    }
    data(&match colors::on_output() {
        true => text.ansi().to_string(),
        false => text.to_string(),
    });
    Exit::Yes
}

/// How the program ends: as the command says, unless its output could not be written.
pub(crate) fn ended(exit: Exit) -> Exit {
    match FAILURE.get() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let why = reason(error);
            tell(&format!("error: cannot write to standard output: {why}"));
            Exit::Failed
        }
        _ => exit,
    }
}

/// What the system says, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" (os error ") {
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}
