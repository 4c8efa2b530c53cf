//! `portcullis graph`: what the relationship graph holds.
//!
//! ```text
//! configuration | profile and objects -> Here  \
//!                       running server -> There -> the same answer -> words | value
//! ```

mod export;
mod neighbors;
pub(super) mod opened;
mod path;
mod profiles;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use portcullis_graph::Vertex;

use self::export::GraphExport;
use self::neighbors::GraphNeighbors;
use self::path::GraphPath;
use self::profiles::{GraphCheck, GraphList};
use super::failure::ended;
use super::text::plain::printable;
use crate::arguments::{Configuration, Server, secret};
use crate::client::Secret;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub(crate) struct Graph {
    #[command(subcommand)]
    command: GraphCommand,
}

#[derive(Debug, Subcommand)]
enum GraphCommand {
    /// Show a shortest path from one vertex to another.
    ///
    /// Vertices are written Kind:namespace/name or Kind:name. Exit code 1 without a path, 6 if there is no
    /// such vertex, 5 if objects could not be read that might have made it.
    Path(GraphPath),
    /// Show the neighbours of a vertex, and the object that each edge comes from.
    #[command(visible_alias = "neighbours")]
    Neighbors(GraphNeighbors),
    /// Write a whole graph as JSON or for Graphviz.
    ///
    /// Nothing is written if objects could not be read (exit code 5).
    Export(GraphExport),
    /// Validate a profile and summarize it.
    Check(GraphCheck),
    /// List the built-in profiles, with their targets and kinds.
    List(GraphList),
}

/// Does what the command line says.
pub(super) fn run(graph: &Graph) -> Exit {
    ended(match &graph.command {
        GraphCommand::Path(asked) => path::run(asked),
        GraphCommand::Neighbors(asked) => neighbors::run(asked),
        GraphCommand::Export(asked) => export::run(asked),
        GraphCommand::Check(asked) => profiles::check(asked),
        GraphCommand::List(asked) => profiles::list(asked),
    })
}

/// Names one after the other, as text for a terminal.
pub(super) fn listed(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
    names.join(", ")
}

/// Which graph of a profile.
#[derive(Debug, Args)]
struct GraphTarget {
    /// Only the graph of this target kind, where the profile has several.
    #[arg(long, value_name = "KIND")]
    target: Option<String>,
}

/// Where a graph comes from: a configuration, a profile with a directory of objects, or a running server.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Graph source")]
pub(super) struct GraphFlags {
    /// Configuration file: its profiles, with their objects as they are now [default: portcullis.yaml]
    /// [env: `PORTCULLIS_CONFIG`].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["objects", "server"])]
    pub(super) config: Option<PathBuf>,
    /// The profile: its name in the configuration; with --objects a file or the name of a built-in one.
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) profile: Option<String>,
    /// A directory of manifests, instead of a configuration.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "profile", conflicts_with = "server")]
    pub(super) objects: Option<PathBuf>,
    /// A running server: `https://HOST`, `http://HOST` or `unix:///PATH` [env: `PORTCULLIS_SERVER`].
    #[arg(long, value_name = "URL")]
    pub(super) server: Option<String>,
    /// Bearer token [env: `PORTCULLIS_TOKEN`].
    #[arg(long, value_name = "TOKEN", value_parser = secret, conflicts_with_all = ["config", "objects"])]
    pub(super) token: Option<Secret>,
    /// CA certificates to trust instead of the system's, in PEM format.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["config", "objects"])]
    pub(super) ca: Option<PathBuf>,
}

impl GraphFlags {
    /// The configuration file that is given, that the environment names, or that lies here.
    pub(super) fn config_file(&self) -> PathBuf {
        Configuration::given(self.config.clone()).file()
    }

    /// The server, as other commands name it.
    pub(super) fn server(&self) -> Server {
        Server {
            server: self.server.clone(),
            token: self.token.clone(),
            ca: self.ca.clone(),
        }
    }
}

fn vertex(text: &str) -> Result<Vertex, String> {
    text.parse::<Vertex>().map_err(|wrong| wrong.to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;
    use crate::commands::Command;

    fn parse(arguments: &str) -> Result<GraphCommand, clap::Error> {
        let all = ["portcullis", "graph"].into_iter();
        let parsed = Cli::try_parse_from(all.chain(arguments.split_whitespace()))?;
        match parsed.command {
            Command::Graph(graph) => Ok(graph.command),
            _ => panic!("graph"),
        }
    }

    #[test]
    fn vertices_are_read_from_the_command_line() {
        let Ok(GraphCommand::Path(path)) = parse("path Secret:a/b Seed:s") else {
            panic!("path")
        };
        assert_eq!(
            (path.from.to_string(), path.to.to_string()),
            ("Secret:a/b".into(), "Seed:s".into())
        );
        for wrong in [
            "Secret",
            "Secret:",
            ":a/b",
            "Secret:/b",
            "Secret:a/",
            "Secret:a/b/c",
            "a/b",
        ] {
            let error = parse(&format!("neighbors {wrong}")).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{wrong}");
            assert!(error.to_string().contains("Kind:namespace/name"), "{error}");
        }
    }

    #[test]
    fn the_graph_comes_from_one_place() {
        for good in [
            "--config c.yaml",
            "--config c.yaml --profile p",
            "--profile p --objects d",
            "--server http://x --token t --profile p",
            "--profile p",
        ] {
            assert!(parse(&format!("export --json {good}")).is_ok(), "{good}");
        }
        for wrong in [
            "--objects d",
            "--config c.yaml --server http://x",
            "--config c.yaml --objects d --profile p",
            "--objects d --profile p --server http://x",
            "--config c.yaml --token t",
            "--objects d --profile p --ca f",
        ] {
            let error = parse(&format!("export --json {wrong}")).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{wrong}");
        }
    }

    #[test]
    fn an_export_has_one_format() {
        for (good, is_dot) in [
            ("--dot", true),
            ("-o dot", true),
            ("--output json", false),
            ("--json", false),
        ] {
            let Ok(GraphCommand::Export(export)) = parse(&format!("export {good}")) else {
                panic!("{good}")
            };
            assert_eq!(export.format.is_dot(), is_dot, "{good}");
        }
        for wrong in [
            "export",
            "export --dot --json",
            "export --dot -o json",
            "export -o yaml",
            "export --yaml",
        ] {
            assert_eq!(parse(wrong).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }
}
