//! `portcullis graph path`.

use clap::Args;
use portcullis_gate::graph_answers::PathAnswer;
use portcullis_graph::Vertex;
use serde_json::json;

use super::opened::{self, Opened, unanswered};
use super::{GraphFlags, GraphTarget, listed, vertex};
use crate::commands::failure::Failure;
use crate::commands::text::data;
use crate::commands::text::data::Output;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::wrap::hanging;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct GraphPath {
    /// Where the path begins, like Secret:garden/backup.
    #[arg(value_name = "FROM", value_parser = vertex)]
    pub(super) from: Vertex,
    /// Where it ends, like Seed:my-seed.
    #[arg(value_name = "TO", value_parser = vertex)]
    pub(super) to: Vertex,
    #[command(flatten)]
    target: GraphTarget,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    place: GraphFlags,
}

/// Shows a shortest path.
pub(super) fn run(asked: &GraphPath) -> Result<Exit, Failure> {
    let target = asked.target.target.as_deref();
    let answer = match opened::open(&asked.place)? {
        Opened::Local(here) => {
            let (profile, view) = here.view(target)?;
            let problems = profile.troubles();
            let found = view.path(&asked.from, &asked.to);
            let found = found.map_err(|why| unanswered(&why, &problems))?;
            PathAnswer { problems, ..found }
        }
        Opened::Remote(mut there) => {
            let (from, to) = (asked.from.to_string(), asked.to.to_string());
            let query = [("from", from.as_str()), ("to", to.as_str())];
            let query = [&query[..], &opened::target(target)].concat();
            let answer: PathAnswer = there.get("path", &query)?;
            opened::warn(&answer.problems);
            answer
        }
    };
    output::data(&data::write(&json!(answer), asked.output, || {
        text(&answer, Terminal::of_output())
    }));
    Ok(match (answer.found, answer.problems.is_empty()) {
        (true, _) => Exit::Yes,
        (false, true) => Exit::No,
        (false, false) => Exit::Failed,
    })
}

fn text(answer: &PathAnswer, terminal: Terminal) -> String {
    let mut text = String::new();
    for (number, vertex) in answer.path.iter().enumerate() {
        let arrow = if number == 0 { "" } else { "-> " };
        text.push_str(&format!("{arrow}{}\n", printable(vertex)));
    }
    if answer.found {
        return text;
    }
    let (from, to) = (printable(&answer.from), printable(&answer.to));
    let mut line = format!("no path from {from} to {to}");
    if !answer.problems.is_empty() {
        line = format!("can't tell, {}: {line}", opened::UNREAD);
    }
    text.push_str(&terminal.answer(&hanging(&line, 2, terminal.width), false));
    text.push('\n');
    if !answer.leads_to.is_empty() {
        let line = format!("{from} leads to {}", listed(&answer.leads_to));
        text.push_str(&hanging(&line, 2, terminal.width));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(path: &[&str], leads_to: &[&str]) -> PathAnswer {
        let texts = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        PathAnswer {
            from: "Secret:a/b".to_owned(),
            to: "Seed:s".to_owned(),
            found: !path.is_empty(),
            path: texts(path),
            leads_to: texts(leads_to),
            problems: Vec::new(),
        }
    }

    #[test]
    fn a_path_is_a_vertex_a_line() {
        assert_eq!(
            text(
                &answer(&["Secret:a/b", "Shoot:a/c", "Seed:s"], &[]),
                Terminal::default()
            ),
            "Secret:a/b\n-> Shoot:a/c\n-> Seed:s\n"
        );
    }

    #[test]
    fn without_a_path_it_is_said_where_it_leads() {
        assert_eq!(
            text(&answer(&[], &[]), Terminal::default()),
            "no path from Secret:a/b to Seed:s\n"
        );
        let mut unsure = answer(&[], &[]);
        unsure.problems = vec!["a.yaml: permission denied".to_owned()];
        assert_eq!(
            text(&unsure, Terminal::default()),
            "can't tell, some objects could not be read: no path from Secret:a/b to Seed:s\n"
        );
        assert_eq!(
            text(
                &answer(&[], &["Seed:t", "Seed:u\u{1b}"]),
                Terminal::default()
            ),
            "no path from Secret:a/b to Seed:s\nSecret:a/b leads to Seed:t, Seed:u\\u{1b}\n"
        );
    }
}
