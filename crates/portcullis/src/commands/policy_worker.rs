//! A process of the server that evaluates policies and can be killed.
//!
//! The server starts itself again as this. It is not a command for users, so it is in no help,
//! manual page or completion.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use portcullis_gate::policies::{WorkerCommand, serve_evaluations};

use crate::exit::Exit;
use crate::output;

/// The only argument.
const NAME: &str = "policy-worker";

/// The program that runs now, even if the file it came from was replaced.
const ITSELF: &str = "/proc/self/exe";

/// Whether this is what the program was started as.
pub(crate) fn is_wanted(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.skip(1).eq([OsString::from(NAME)])
}

/// How a server starts such a process.
pub(super) fn command() -> WorkerCommand {
    let itself = Path::new(ITSELF);
    let program = match itself.exists() {
        true => itself.to_owned(),
        false => std::env::current_exe().unwrap_or_else(|_| PathBuf::from("portcullis")),
    };
    WorkerCommand {
        program,
        arguments: vec![NAME.into()],
    }
}

/// Evaluates policies for the server at the other end of standard input, until it is gone.
pub(crate) fn run() -> Exit {
    match serve_evaluations() {
        Ok(()) => Exit::Yes,
        Err(error) => {
            output::tell(&format!(
                "error: {NAME} is started by the server, not by hand: {error}"
            ));
            Exit::Usage
        }
    }
}
