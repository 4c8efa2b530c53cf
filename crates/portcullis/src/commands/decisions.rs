//! `portcullis decisions`: lists, follows and exports decisions.
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

use clap::{Args, Subcommand};

use self::export::Export;
use self::list::List;
use super::text::error;
use crate::exit::Exit;
use crate::source::SourceError;

#[derive(Debug, Args)]
pub(crate) struct Decisions {
    #[command(subcommand)]
    command: DecisionsCommand,
}

#[derive(Debug, Subcommand)]
enum DecisionsCommand {
    /// List decisions, the newest first.
    List(List),
    /// Write whole decisions, one per line, the oldest first, as `replay --file` reads them.
    Export(Export),
}

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
