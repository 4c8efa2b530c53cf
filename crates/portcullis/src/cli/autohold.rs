//! The command line of `portcullis autohold`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::span::span;
use super::{Output, Server};

#[derive(Debug, Args)]
pub(crate) struct Autohold {
    #[command(subcommand)]
    pub(crate) command: AutoholdCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AutoholdCommand {
    /// List the holds of a tenant.
    List(AutoholdList),
    /// Show one hold.
    Show(AutoholdShow),
    /// Hold the nodes of the next failing run of a job.
    Place(AutoholdPlace),
    /// Release a hold, and give back the nodes.
    #[command(visible_alias = "delete")]
    Release(AutoholdRelease),
}

#[derive(Debug, Args)]
pub(crate) struct AutoholdList {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,
    /// Only those of this project.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct AutoholdShow {
    /// The hold, as `list` names it.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct AutoholdPlace {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,
    /// The project.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// The job.
    #[arg(long, value_name = "JOB")]
    pub(crate) job: String,
    /// Only runs for this change, like 12,1.
    #[arg(long, value_name = "CHANGE", conflicts_with = "reference")]
    pub(crate) change: Option<String>,
    /// Only runs for this reference, like refs/heads/main.
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Who wants it, and why.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// How many failing runs are held.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
    /// How long nodes are held: seconds, or a duration like 24h [default: the server's].
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) keep: Option<Duration>,
    /// End the hold by itself after this time, used or not: seconds, or a duration like 2h.
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    pub(crate) lasting: Option<Duration>,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct AutoholdRelease {
    /// The hold, as `list` names it.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,
    #[command(flatten)]
    pub(crate) server: Server,
}
