//! `portcullis runner`: runners of CI jobs on a running server.

mod matrix;

use clap::{Args, Subcommand};
use serde_json::json;

use super::listing::{self, Columns};
use super::remote::{Remote, ended};
use super::text::data::Output;
use crate::arguments::Server;
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Runner {
    #[command(subcommand)]
    command: RunnerCommand,
}

#[derive(Debug, Subcommand)]
enum RunnerCommand {
    /// List runners.
    List(RunnerList),
    /// Show which runners may take a job: each runner, each requirement, and why not.
    Matrix(matrix::RunnerMatrix),
    /// Give a runner no more jobs.
    Pause(RunnerChange),
    /// Give a runner jobs again.
    Resume(RunnerChange),
}

#[derive(Debug, Args)]
struct RunnerList {
    /// The page, as the previous one says.
    #[arg(long, value_name = "PAGE")]
    page: Option<u64>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct RunnerChange {
    /// The id of the runner.
    #[arg(value_name = "ID")]
    id: u64,
    #[command(flatten)]
    server: Server,
}

const COLUMNS: Columns = &[
    ("ID", "id"),
    ("TYPE", "runner_type"),
    ("PATH", "path"),
    ("TAGS", "tag_list"),
    ("UNTAGGED", "run_untagged"),
    ("REFS", "access_level"),
    ("PAUSED", "paused"),
    ("DESCRIPTION", "description"),
];

/// Does what the command line says.
pub(super) fn run(runner: &Runner) -> Exit {
    ended(match &runner.command {
        RunnerCommand::List(list) => listed(list),
        RunnerCommand::Matrix(matrix) => matrix::shown(matrix),
        RunnerCommand::Pause(change) => set(change, true, "paused"),
        RunnerCommand::Resume(change) => set(change, false, "resumed"),
    })
}

fn listed(list: &RunnerList) -> Result<(), ClientError> {
    let mut server = Remote::open(&list.server)?;
    let query = [("page", list.page.map(|page| page.to_string()))];
    let page = listing::read_page(&mut server, &["v1", "runners"], &query)?;
    listing::page(&page, list.output, COLUMNS, "no runners found");
    Ok(())
}

fn set(change: &RunnerChange, paused: bool, done: &str) -> Result<(), ClientError> {
    let mut server = Remote::open(&change.server)?;
    let path = ["v1", "runners", &change.id.to_string()];
    server.patch(&path, &json!({"paused": paused}))?;
    output::hint(&format!("runner {} {done}", change.id));
    Ok(())
}
