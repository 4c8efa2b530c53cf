//! A process of the server that evaluates policies, or tries one, and can be killed.
//!
//! The server starts itself again as this. It is not a command for users, so it is in no help,
//! manual page or completion.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use portcullis_gate::playground;
use portcullis_gate::policies::{WorkerCommand, serve_evaluations};

use crate::exit::Exit;
use crate::output;

/// The first argument.
const NAME: &str = "policy-worker";

/// The second argument of one that tries policies that somebody is writing.
const PLAYGROUND: &str = "playground";

/// The program that runs now, even if the file it came from was replaced.
const ITSELF: &str = "/proc/self/exe";

/// Whether this is what the program was started as.
pub(crate) fn is_wanted(arguments: impl Iterator<Item = OsString>) -> bool {
    let given: Vec<OsString> = arguments.skip(1).take(3).collect();
    let given: Vec<&str> = given.iter().filter_map(|one| one.to_str()).collect();
    matches!(given.as_slice(), [NAME] | [NAME, PLAYGROUND])
}

/// How a server starts such a process.
pub(super) fn command() -> WorkerCommand {
    command_with(&[NAME])
}

/// How a server starts a process that tries policies that somebody is writing.
pub(super) fn of_playground() -> WorkerCommand {
    command_with(&[NAME, PLAYGROUND])
}

fn command_with(arguments: &[&str]) -> WorkerCommand {
    let itself = Path::new(ITSELF);
    let program = match itself.exists() {
        true => itself.to_owned(),
        false => std::env::current_exe().unwrap_or_else(|_| PathBuf::from("portcullis")),
    };
    WorkerCommand {
        program,
        arguments: arguments.iter().map(Into::into).collect(),
    }
}

/// Evaluates policies for the server at the other end of standard input, until it is gone.
pub(crate) fn run() -> Exit {
    let served = match std::env::args_os().nth(2) {
        Some(_) => playground::serve(),
        None => serve_evaluations(),
    };
    match served {
        Ok(()) => Exit::Yes,
        Err(error) => {
            output::tell(&format!(
                "error: {NAME} is started by the server, not by hand: {error}"
            ));
            Exit::Usage
        }
    }
}
