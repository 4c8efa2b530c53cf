//! `portcullis decisions`: lists, follows and exports what was decided.
//!
//! ```text
//! source (store or server) -> pages -> table | json | yaml
//!                          \-> whole decisions, one a line
//! ```

mod export;
mod list;
mod page;
mod table;

pub(super) use self::table::{action, message};

use super::text::error;
use crate::cli::{Decisions, DecisionsCommand};
use crate::exit::Exit;
use crate::source::SourceError;

/// Does what the command line says.
pub(super) fn run(decisions: &Decisions) -> Exit {
    let done = match &decisions.command {
        DecisionsCommand::List(list) => list::run(list),
        DecisionsCommand::Export(export) => export::run(export),
    };
    match done {
        Ok(()) => Exit::Yes,
        Err(why) => failed(&why),
    }
}

/// Says why decisions can't be read.
pub(super) fn failed(why: &SourceError) -> Exit {
    error::tell(&why.to_string());
    why.exit
}
