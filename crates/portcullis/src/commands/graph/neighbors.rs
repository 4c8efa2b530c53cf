//! `portcullis graph neighbors`.

use clap::Args;
use portcullis_gate::graph_answers::{Neighbor, Neighbors};
use portcullis_graph::Vertex;
use serde_json::json;

use super::opened::{self, Opened, unanswered};
use super::{GraphFlags, GraphTarget, listed, vertex};
use crate::commands::failure::{Failure, remark};
use crate::commands::text::data;
use crate::commands::text::data::Output;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::wrap::hanging;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct GraphNeighbors {
    /// The vertex, like Seed:my-seed.
    #[arg(value_name = "VERTEX", value_parser = vertex)]
    vertex: Vertex,
    #[command(flatten)]
    target: GraphTarget,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    place: GraphFlags,
}

/// As many as a server returns.
const MOST: usize = 10_000;

/// Shows what a vertex is connected with.
pub(super) fn run(asked: &GraphNeighbors) -> Result<Exit, Failure> {
    let target = asked.target.target.as_deref();
    let answer = match opened::open(&asked.place)? {
        Opened::Local(here) => {
            let (profile, view) = here.view(target)?;
            let problems = profile.troubles();
            let found = view.neighbors(&asked.vertex, MOST);
            let found = found.map_err(|why| unanswered(&why, &problems))?;
            Neighbors { problems, ..found }
        }
        Opened::Remote(mut there) => {
            let vertex = asked.vertex.to_string();
            let query = [("vertex", vertex.as_str())];
            let query = [&query[..], &opened::target(target)].concat();
            let answer: Neighbors = there.get("neighbors", &query)?;
            opened::warn(&answer.problems);
            answer
        }
    };
    output::data(&data::write(&json!(answer), asked.output, || {
        text(&answer, Terminal::of_output())
    }));
    if answer.is_cut {
        remark(&format!("there are more than {MOST} in one direction"));
    }
    Ok(Exit::Yes)
}

fn text(answer: &Neighbors, terminal: Terminal) -> String {
    let mut text = format!("{}\n", printable(&answer.vertex));
    for (arrow, side) in [("<-", &answer.incoming), ("->", &answer.outgoing)] {
        if side.is_empty() {
            continue;
        }
        text.push_str(&format!("  {arrow} ({})\n", side.len()));
        for neighbor in side {
            let line = format!("    {}", line(neighbor));
            text.push_str(&hanging(&line, 4, terminal.width));
            text.push('\n');
        }
    }
    text
}

/// The neighbour, and the objects that the edge comes from.
fn line(neighbor: &Neighbor) -> String {
    let (name, owners) = (printable(&neighbor.vertex), listed(&neighbor.owners));
    format!("{name}  (by {owners})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_stand_below_their_direction() {
        let neighbor = |vertex: &str, owner: &str| Neighbor {
            vertex: vertex.to_owned(),
            owners: vec![owner.to_owned()],
        };
        let mut answer = Neighbors {
            vertex: "Seed:s".to_owned(),
            is_object: true,
            incoming: vec![
                neighbor("Secret:a/b", "Seed:s"),
                neighbor("Secret:a/c", "ManagedSeed:garden/s"),
            ],
            outgoing: vec![neighbor("ManagedSeed:garden/s", "ManagedSeed:garden/s")],
            is_cut: false,
            problems: Vec::new(),
        };
        assert_eq!(
            text(&answer, Terminal::default()),
            "Seed:s\n  <- (2)\n    Secret:a/b  (by Seed:s)\n    Secret:a/c  (by ManagedSeed:garden/s)\n  -> (1)\n    \
             ManagedSeed:garden/s  (by ManagedSeed:garden/s)\n"
        );
        answer.incoming.clear();
        answer.outgoing.clear();
        assert_eq!(text(&answer, Terminal::default()), "Seed:s\n");
    }
}
