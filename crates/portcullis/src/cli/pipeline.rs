//! The command line of `portcullis pipeline`.

use clap::{Args, Subcommand};

use super::Server;

#[derive(Debug, Args)]
pub(crate) struct Pipeline {
    #[command(subcommand)]
    pub(crate) command: PipelineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PipelineCommand {
    /// Run a pipeline again for a change or a reference.
    Enqueue(Enqueue),
    /// Cancel what a pipeline runs for a change or a reference.
    Dequeue(Dequeue),
    /// Move changes to the front of a pipeline.
    Promote(Promote),
}

#[derive(Debug, Args)]
pub(crate) struct Enqueue {
    #[command(flatten)]
    pub(crate) item: Item,
    /// The revision before, for a reference.
    #[arg(long, value_name = "REVISION", conflicts_with = "change")]
    pub(crate) oldrev: Option<String>,
    /// The revision after, for a reference.
    #[arg(long, value_name = "REVISION", conflicts_with = "change")]
    pub(crate) newrev: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct Dequeue {
    #[command(flatten)]
    pub(crate) item: Item,
    #[command(flatten)]
    pub(crate) server: Server,
}

/// Something in a pipeline.
#[derive(Debug, Args)]
pub(crate) struct Item {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,
    /// The project.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// The pipeline.
    #[arg(long, value_name = "PIPELINE")]
    pub(crate) pipeline: String,
    #[command(flatten)]
    pub(crate) what: What,
}

/// A change or a reference.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct What {
    /// The change, like 12,1.
    #[arg(long, value_name = "CHANGE")]
    pub(crate) change: Option<String>,
    /// The reference, like refs/heads/main.
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Promote {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,
    /// The pipeline.
    #[arg(long, value_name = "PIPELINE")]
    pub(crate) pipeline: String,
    /// A change, like 12,1; may be repeated, in the order that is wanted.
    #[arg(long = "change", value_name = "CHANGE", required = true)]
    pub(crate) changes: Vec<String>,
    #[command(flatten)]
    pub(crate) server: Server,
}
