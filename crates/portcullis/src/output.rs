//! The one place that prints.
//!
//! Output that could not be written is never success: the first failure is remembered, nothing is written
//! after it, and [`ended`] makes it the program's exit code. A reader that has enough, as in
//! `portcullis decisions export | head`, is not a failure.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

pub(crate) use portcullis_core::system_error::reason;

use portcullis_core::text::printable;

use crate::colors;
use crate::exit::Exit;
use crate::verbosity::Verbosity;

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

/// Standard output as something to write to. It takes everything: what could not be written is told by [`ended`].
#[derive(Debug)]
pub(crate) struct Data;

impl Write for Data {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        bytes(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints a message to standard error. If that can't be written either, it is lost.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether nothing more can be written to standard output.
pub(crate) fn is_closed() -> bool {
    FAILURE.get().is_some()
}

/// Clears the terminal, if both outputs are one: whatever goes to a file or another program stays whole.
pub(crate) fn clear() {
    if io::stdout().is_terminal() && io::stderr().is_terminal() && !is_dumb() {
        let mut err = io::stderr().lock();
        let _ = write!(err, "\x1b[H\x1b[2J");
        let _ = err.flush();
    }
}

/// Prints what is good to know: a hint, a note, how a command ended. `--quiet` leaves it out.
pub(crate) fn hint(text: &str) {
    if !Verbosity::current().is_quiet() {
        tell(text);
    }
}

/// Prints what the program does, where `--verbose` asks for it.
pub(crate) fn detail(text: impl FnOnce() -> String) {
    details(1, text);
}

/// The same where `--verbose` is given at least so often.
pub(crate) fn details(level: u8, text: impl FnOnce() -> String) {
    if Verbosity::current().details() >= level {
        let text = printable(&text()).into_owned();
        tell(&match colors::on_error() {
            true => format!("\u{1b}[2mdebug: {text}\u{1b}[0m"),
            false => format!("debug: {text}"),
        });
    }
}

/// Whether lines can be written again: not with `--quiet`, nor on a terminal that can't.
pub(crate) fn can_redraw() -> bool {
    !is_dumb() && !Verbosity::current().is_quiet()
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Writes the line the cursor is on again; not with `--quiet`, nor where that is not possible.
pub(crate) fn redraw(line: &str) {
    if !can_redraw() {
        return;
    }
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
