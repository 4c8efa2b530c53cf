//! `portcullis graph export`.

use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use portcullis_gate::graph_answers::{Export, ExportFormat};

use super::opened::{self, Opened};
use super::{GraphFlags, GraphTarget};
use crate::commands::failure::Failure;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct GraphExport {
    #[command(flatten)]
    pub(super) format: GraphFormat,
    #[command(flatten)]
    target: GraphTarget,
    #[command(flatten)]
    place: GraphFlags,
}

/// How a graph is written.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct GraphFormat {
    /// Output format.
    #[arg(short, long, value_enum)]
    output: Option<GraphOutput>,
    /// The same as --output dot.
    #[arg(long, hide = true)]
    dot: bool,
    /// The same as --output json.
    #[arg(long, hide = true)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphOutput {
    /// `{vertices: [{kind, namespace, name}], edges: [{from, to, owner}]}`
    Json,
    /// For Graphviz
    Dot,
}

impl GraphFormat {
    /// Whether it is for Graphviz, not JSON.
    pub(super) fn is_dot(&self) -> bool {
        self.dot || self.output == Some(GraphOutput::Dot)
    }
}

/// How every export ends, in either format.
const END: &[u8] = b"}\n";

/// Writes a whole graph, piece by piece. A part of one is not written: nothing would say so.
pub(super) fn run(asked: &GraphExport) -> Result<Exit, Failure> {
    let target = asked.target.target.as_deref();
    let (format, name) = match asked.format.is_dot() {
        true => (ExportFormat::Dot, "dot"),
        false => (ExportFormat::Json, "json"),
    };
    match opened::open(&asked.place)? {
        Opened::Local(here) => {
            let (profile, view) = here.view(target)?;
            opened::complete_and_told(&profile.troubles())?;
            let mut pieces = Export::new(view, &profile.name, format);
            // A reader that went away has enough.
            pieces.all(|piece| output::bytes(piece.as_bytes()));
        }
        Opened::Remote(mut there) => {
            let query = [&[("format", name)][..], &opened::target(target)].concat();
            let mut last: Vec<u8> = Vec::new();
            let mut is_read = true;
            there.pieces(&query, &mut |piece| {
                last.extend_from_slice(piece);
                let more = last.len().saturating_sub(END.len());
                last.drain(..more);
                is_read = output::bytes(piece);
                match is_read {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            if is_read && last != END {
                let message = "the server closed the connection: the graph is incomplete";
                return Err(Failure::new(Exit::Failed, message));
            }
        }
    }
    Ok(Exit::Yes)
}
