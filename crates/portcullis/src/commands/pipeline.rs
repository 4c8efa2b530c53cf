//! `portcullis pipeline`: submits pipelines to a running server, runs them again, cancels them, or moves changes
//! to the front.

mod submit;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::remote::{Remote, ended};
use super::text::plain::printable;
use crate::arguments::Server;
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Pipeline {
    #[command(subcommand)]
    command: PipelineCommand,
}

#[derive(Debug, Subcommand)]
enum PipelineCommand {
    /// Submit the jobs of a CI file, or a pipeline in JSON.
    Submit(submit::Submit),
    /// Show a pipeline and its jobs.
    Show(submit::Show),
    /// Run a pipeline again for a change or a reference.
    Enqueue(Enqueue),
    /// Cancel what a pipeline runs for a change or a reference.
    Dequeue(Dequeue),
    /// Move changes to the front of a pipeline.
    Promote(Promote),
}

#[derive(Debug, Args)]
struct Enqueue {
    #[command(flatten)]
    item: Item,
    /// The revision before, for a reference.
    #[arg(long, value_name = "REVISION", conflicts_with = "change")]
    oldrev: Option<String>,
    /// The revision after, for a reference.
    #[arg(long, value_name = "REVISION", conflicts_with = "change")]
    newrev: Option<String>,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct Dequeue {
    #[command(flatten)]
    item: Item,
    #[command(flatten)]
    server: Server,
}

/// Something in a pipeline.
#[derive(Debug, Args)]
struct Item {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// The project.
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// The pipeline.
    #[arg(long, value_name = "PIPELINE")]
    pipeline: String,
    #[command(flatten)]
    what: What,
}

/// A change or a reference.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct What {
    /// The change, like 12,1.
    #[arg(long, value_name = "CHANGE")]
    change: Option<String>,
    /// The reference, like refs/heads/main.
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,
}

#[derive(Debug, Args)]
struct Promote {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// The pipeline.
    #[arg(long, value_name = "PIPELINE")]
    pipeline: String,
    /// A change, like 12,1; may be repeated, the first one comes first.
    #[arg(long = "change", value_name = "CHANGE", required = true)]
    changes: Vec<String>,
    #[command(flatten)]
    server: Server,
}

/// Does what the command line says.
pub(super) fn run(pipeline: &Pipeline) -> Exit {
    ended(match &pipeline.command {
        PipelineCommand::Submit(submit) => submit::submitted(submit),
        PipelineCommand::Show(show) => submit::shown(show),
        PipelineCommand::Enqueue(enqueue) => enqueued(enqueue),
        PipelineCommand::Dequeue(dequeue) => dequeued(dequeue),
        PipelineCommand::Promote(promote) => promoted(promote),
    })
}

fn enqueued(enqueue: &Enqueue) -> Result<(), ClientError> {
    let item = &enqueue.item;
    let mut body = named(item);
    if item.what.reference.is_some() {
        body.insert("oldrev".to_owned(), json!(enqueue.oldrev));
        body.insert("newrev".to_owned(), json!(enqueue.newrev));
    }
    let mut server = Remote::open(&enqueue.server)?;
    let path = ["tenant", &item.tenant, "project", &item.project, "enqueue"];
    server.post(&path, &body.into())?;
    tell(&format!("{} is enqueued in {}", name(item), item.pipeline));
    Ok(())
}

fn dequeued(dequeue: &Dequeue) -> Result<(), ClientError> {
    let item = &dequeue.item;
    let mut server = Remote::open(&dequeue.server)?;
    let path = ["tenant", &item.tenant, "project", &item.project, "dequeue"];
    server.post(&path, &named(item).into())?;
    tell(&format!("{} is taken out of {}", name(item), item.pipeline));
    Ok(())
}

fn promoted(promote: &Promote) -> Result<(), ClientError> {
    let body = json!({"pipeline": promote.pipeline, "changes": promote.changes});
    let mut server = Remote::open(&promote.server)?;
    server.post(&["tenant", &promote.tenant, "promote"], &body)?;
    let changes = promote.changes.join(" ");
    tell(&format!("at the front of {}: {changes}", promote.pipeline));
    Ok(())
}

fn named(item: &Item) -> Map<String, Value> {
    let mut body = Map::new();
    let mut say = |key: &str, value: &str| body.insert(key.to_owned(), json!(value));
    say("pipeline", &item.pipeline);
    if let Some(change) = &item.what.change {
        say("change", change);
    }
    if let Some(reference) = &item.what.reference {
        say("ref", reference);
    }
    body
}

fn name(item: &Item) -> String {
    let change = item.what.change.as_ref().map(|c| format!("change {c}"));
    let what = change.or_else(|| item.what.reference.clone());
    format!("{} of {}", what.unwrap_or_default(), item.project)
}

fn tell(text: &str) {
    output::hint(&printable(text));
}
