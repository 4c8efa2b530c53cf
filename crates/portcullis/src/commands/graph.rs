//! `portcullis graph` and `portcullis can-i VERB RESOURCE`: what the relationship graph holds, and what
//! authorizers say.
//!
//! ```text
//! configuration | profile and objects -> Here  \
//!                       running server -> There -> the same answer -> words | value
//! ```

mod can_i;
mod check;
mod export;
mod list;
mod neighbors;
mod path;
mod place;

use super::access::ended;
use super::text::plain::printable;
use crate::cli::{CanIAccess, Graph, GraphCommand};
use crate::exit::Exit;

/// Does what the command line says.
pub(super) fn run(graph: &Graph) -> Exit {
    ended(match &graph.command {
        GraphCommand::Path(asked) => path::run(asked),
        GraphCommand::Neighbors(asked) => neighbors::run(asked),
        GraphCommand::Export(asked) => export::run(asked),
        GraphCommand::Check(asked) => check::run(asked),
        GraphCommand::List(asked) => list::run(asked),
    })
}

/// Says whether somebody may do something to a resource.
pub(super) fn can_i(asked: &CanIAccess) -> Exit {
    ended(can_i::run(asked))
}

/// Names one after the other, as text for a terminal.
fn listed(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
    names.join(", ")
}
