//! `portcullis job`: submits, lists, shows, explains, retries and cancels CI jobs on a running server, and prints their
//! traces.

mod why;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::listing::{self, Columns};
use super::remote::{Remote, ended};
use super::text::data::{self, Output};
use super::text::plain::printable;
use super::text::terminal::Terminal;
use super::text::wrap::hanging;
use crate::arguments::Server;
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Job {
    #[command(subcommand)]
    command: JobCommand,
}

#[derive(Debug, Subcommand)]
enum JobCommand {
    /// Submit a job.
    Submit(JobSubmit),
    /// List jobs, the newest first.
    List(JobList),
    /// Show a job.
    Show(JobShow),
    /// Explain what a job waits for, why it was denied, or why no runner takes it.
    Why(JobWhy),
    /// Print what a job has written so far.
    Trace(JobTrace),
    /// Run a finished job again.
    Retry(JobChange),
    /// Cancel a job.
    Cancel(JobChange),
}

#[derive(Debug, Args)]
struct JobSubmit {
    /// The job, in JSON or YAML; `-` reads standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct JobList {
    /// Only jobs with this status, like pending.
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only jobs of this project.
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The page, as the previous one says.
    #[arg(long, value_name = "PAGE")]
    page: Option<u64>,
    /// The number of jobs, 1 to 500 [default: 50].
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct JobShow {
    /// The id of the job.
    #[arg(value_name = "ID")]
    id: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct JobWhy {
    /// The id of the job.
    #[arg(value_name = "ID")]
    id: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct JobTrace {
    /// The id of the job.
    #[arg(value_name = "ID")]
    id: u64,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct JobChange {
    /// The id of the job.
    #[arg(value_name = "ID")]
    id: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

const COLUMNS: Columns = &[
    ("ID", "id"),
    ("PROJECT", "project"),
    ("NAME", "name"),
    ("REF", "ref"),
    ("STATUS", "status"),
    ("ATTEMPT", "attempt"),
    ("TAGS", "tags"),
    ("FAILURE", "failure_reason"),
];

const FIELDS: &[(&str, &str)] = &[
    ("id", "id"),
    ("project", "project"),
    ("name", "name"),
    ("stage", "stage"),
    ("ref", "ref"),
    ("status", "status"),
    ("failure", "failure_reason"),
    ("attempt", "attempt"),
    ("tags", "tags"),
    ("submitted with", "original_tags"),
    ("submitted at", "created_at"),
    ("queued at", "queued_at"),
    ("started at", "started_at"),
    ("finished at", "finished_at"),
    ("runner", "runner_id"),
    ("eligible runners", "eligible_runners"),
    ("stuck", "stuck_reason"),
];

/// Does what the command line says.
pub(super) fn run(job: &Job) -> Exit {
    ended(match &job.command {
        JobCommand::Submit(submit) => submitted(submit),
        JobCommand::List(list) => listed(list),
        JobCommand::Show(show) => shown(show),
        JobCommand::Why(why) => explained(why),
        JobCommand::Trace(trace) => traced(trace),
        JobCommand::Retry(change) => changed(change, "retry"),
        JobCommand::Cancel(change) => changed(change, "cancel"),
    })
}

fn submitted(submit: &JobSubmit) -> Result<(), ClientError> {
    let body = listing::value(&listing::source(&submit.file)?)?;
    let mut server = Remote::open(&submit.server)?;
    let job = server.post(&["v1", "jobs"], &body);
    told(&job.map_err(listing::of_file)?, submit.output);
    Ok(())
}

fn listed(list: &JobList) -> Result<(), ClientError> {
    let mut server = Remote::open(&list.server)?;
    let query = [
        ("status", list.status.clone()),
        ("project", list.project.clone()),
        ("page", list.page.map(|page| page.to_string())),
        ("limit", list.limit.map(|limit| limit.to_string())),
    ];
    let page = listing::read_page(&mut server, &["v1", "jobs"], &query)?;
    listing::page(&page, list.output, COLUMNS, "no jobs found");
    Ok(())
}

fn job(server: &Server, id: u64) -> Result<Value, ClientError> {
    Remote::open(server)?.get(&["v1", "jobs", &id.to_string()])
}

fn shown(show: &JobShow) -> Result<(), ClientError> {
    let job = job(&show.server, show.id)?;
    listing::one(&job, show.output, FIELDS);
    Ok(())
}

fn explained(why: &JobWhy) -> Result<(), ClientError> {
    let job = job(&why.server, why.id)?;
    let sentences = why::sentences(&job);
    let value = json!({
        "id": why.id,
        "status": job.get("status"),
        "failure_reason": job.get("failure_reason"),
        "attempt": job.get("attempt"),
        "sentences": &sentences,
    });
    output::data(&data::write(&value, why.output, || {
        let terminal = Terminal::of_output();
        let mut text = why::told(&job, terminal);
        for sentence in sentences.iter().skip(1) {
            text.push_str(&hanging(&printable(sentence), 2, terminal.width));
            text.push('\n');
        }
        text
    }));
    Ok(())
}

fn traced(trace: &JobTrace) -> Result<(), ClientError> {
    let mut server = Remote::open(&trace.server)?;
    let text = server.text(&["v1", "jobs", &trace.id.to_string(), "trace"])?;
    // As it is: colours are a part of it.
    output::bytes(&text);
    Ok(())
}

fn changed(change: &JobChange, verb: &str) -> Result<(), ClientError> {
    let mut server = Remote::open(&change.server)?;
    let job = server.act(&["v1", "jobs", &change.id.to_string(), verb])?;
    told(&job, change.output);
    Ok(())
}

/// What became of a job, in a line or whole.
fn told(job: &Value, output: Output) {
    match output {
        Output::Table => output::data(&why::told(job, Terminal::of_output())),
        _ => listing::one(job, output, FIELDS),
    }
}
