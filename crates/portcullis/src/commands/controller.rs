//! `portcullis controller`: admission controllers of CI jobs on a running server.

mod answer;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

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
pub(crate) struct Controller {
    #[command(subcommand)]
    command: ControllerCommand,
}

#[derive(Debug, Subcommand)]
enum ControllerCommand {
    /// Add a controller; its secret is shown once.
    Add(Box<ControllerAdd>),
    /// List controllers.
    List(ControllerList),
    /// Show a controller.
    Show(ControllerShow),
    /// Ask a controller about a job that does not exist.
    Test(ControllerShow),
    /// Stop asking a controller.
    Pause(ControllerChange),
    /// Ask a controller again, also after it was suspended.
    Resume(ControllerChange),
    /// Delete a controller.
    Delete(ControllerChange),
    /// Answer for a controller that pulls: let a job in, or deny it.
    Answer(answer::Answer),
}

#[derive(Debug, Args)]
struct ControllerAdd {
    /// Its name, which reasons and records carry.
    #[arg(value_name = "NAME")]
    name: String,
    /// The path of the group whose jobs it is asked about.
    #[arg(long, value_name = "PATH", conflicts_with = "project")]
    group: Option<String>,
    /// The project whose jobs it is asked about; with neither, those of the whole instance.
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// What it may do: validating, mutating or both.
    #[arg(long, value_name = "KIND", default_value = "both")]
    kind: String,
    #[command(flatten)]
    transport: Transport,
    /// Whether it is asked: enabled, `dry_run` or disabled.
    #[arg(long, value_name = "STATE", default_value = "enabled")]
    state: String,
    /// What happens to a job if it fails: closed or open.
    #[arg(long, value_name = "POLICY", default_value = "closed")]
    failure_policy: String,
    /// How long one request may take, like 15s.
    #[arg(long, value_name = "TIME")]
    timeout: Option<String>,
    /// It may remove every tag of a job.
    #[arg(long)]
    may_untag: bool,
    /// Variables it sees besides the predefined ones, a glob; may be repeated.
    #[arg(long = "variable", value_name = "GLOB")]
    variables: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

/// How it is asked.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Transport {
    /// The URL of a webhook.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The name of a configured policy.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// A file with the text of a policy.
    #[arg(long, value_name = "FILE")]
    code: Option<PathBuf>,
    /// It claims jobs itself.
    #[arg(long)]
    pull: bool,
}

#[derive(Debug, Args)]
struct ControllerList {
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
struct ControllerShow {
    /// The id of the controller.
    #[arg(value_name = "ID")]
    id: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct ControllerChange {
    /// The id of the controller.
    #[arg(value_name = "ID")]
    id: u64,
    #[command(flatten)]
    server: Server,
}

const COLUMNS: Columns = &[
    ("ID", "id"),
    ("NAME", "name"),
    ("LEVEL", "level"),
    ("PATH", "path"),
    ("KIND", "kind"),
    ("STATE", "state"),
    ("ON FAILURE", "failure_policy"),
    ("URL", "url"),
];

const FIELDS: &[(&str, &str)] = &[
    ("id", "id"),
    ("name", "name"),
    ("level", "level"),
    ("path", "path"),
    ("kind", "kind"),
    ("url", "url"),
    ("policy", "policy"),
    ("pull", "pull"),
    ("state", "state"),
    ("on failure", "failure_policy"),
    ("timeout", "timeout"),
    ("match", "match"),
    ("created at", "created_at"),
];

/// Does what the command line says.
pub(super) fn run(controller: &Controller) -> Exit {
    ended(match &controller.command {
        ControllerCommand::Add(add) => added(add),
        ControllerCommand::List(list) => listed(list),
        ControllerCommand::Show(show) => shown(show),
        ControllerCommand::Test(test) => tested(test),
        ControllerCommand::Pause(change) => set(change, "disabled", "paused"),
        ControllerCommand::Resume(change) => set(change, "enabled", "resumed"),
        ControllerCommand::Delete(change) => deleted(change),
        ControllerCommand::Answer(answer) => answer::answered(answer),
    })
}

fn added(add: &ControllerAdd) -> Result<(), ClientError> {
    let body = body(add)?;
    let mut server = Remote::open(&add.server)?;
    let controller = server.post(&["v1", "controllers"], &body)?;
    output::data(&data::write(&controller, add.output, || {
        let line = |name: &str| printable(&listing::text(&controller, name)).into_owned();
        format!("id      {}\nsecret  {}\n", line("id"), line("secret"))
    }));
    if add.output == Output::Table {
        output::hint("the secret is not shown again");
    }
    Ok(())
}

fn body(add: &ControllerAdd) -> Result<Value, ClientError> {
    let (level, path) = match (&add.project, &add.group) {
        (Some(project), _) => ("project", Some(project)),
        (None, Some(group)) => ("group", Some(group)),
        (None, None) => ("instance", None),
    };
    let mut body = Map::new();
    let mut say = |key: &str, value: Value| body.insert(key.to_owned(), value);
    say("name", json!(add.name));
    say("level", json!(level));
    if let Some(path) = path {
        say("path", json!(path));
    }
    say("kind", json!(add.kind));
    say("state", json!(add.state));
    say("failure_policy", json!(add.failure_policy));
    let transport = &add.transport;
    if let Some(url) = &transport.url {
        say("url", json!(url));
    } else if let Some(policy) = &transport.policy {
        say("policy", json!(policy));
    } else if let Some(file) = &transport.code {
        say("policy", json!({"code": listing::source(file)?.text()}));
    } else if transport.pull {
        say("pull", json!(true));
    }
    if let Some(timeout) = &add.timeout {
        say("timeout", json!(timeout));
    }
    if add.may_untag {
        say("may_untag", json!(true));
    }
    if !add.variables.is_empty() {
        say("variables", json!(add.variables));
    }
    Ok(body.into())
}

fn listed(list: &ControllerList) -> Result<(), ClientError> {
    let mut server = Remote::open(&list.server)?;
    let query = [("page", list.page.map(|page| page.to_string()))];
    let page = listing::read_page(&mut server, &["v1", "controllers"], &query)?;
    listing::page(&page, list.output, COLUMNS, "no controllers found");
    Ok(())
}

fn shown(show: &ControllerShow) -> Result<(), ClientError> {
    let mut server = Remote::open(&show.server)?;
    let controller = server.get(&["v1", "controllers", &show.id.to_string()])?;
    listing::one(&controller, show.output, FIELDS);
    Ok(())
}

fn tested(test: &ControllerShow) -> Result<(), ClientError> {
    let mut server = Remote::open(&test.server)?;
    let result = server.act(&["v1", "controllers", &test.id.to_string(), "test"])?;
    output::data(&data::write(&result, test.output, || {
        let took = listing::text(&result, "duration_ms");
        let said = match (result.get("error"), result.get("verdict")) {
            (Some(error), _) => format!("it failed: {}", listing::plain(error)),
            (None, Some(verdict)) => format!("it answered: {verdict}"),
            (None, None) => "it will call back".to_owned(),
        };
        let line = format!("{} ({took} ms)", printable(&said));
        format!("{}\n", hanging(&line, 2, Terminal::of_output().width))
    }));
    Ok(())
}

fn set(change: &ControllerChange, state: &str, done: &str) -> Result<(), ClientError> {
    let mut server = Remote::open(&change.server)?;
    let path = ["v1", "controllers", &change.id.to_string()];
    server.patch(&path, &json!({"state": state}))?;
    output::hint(&format!("controller {} {done}", change.id));
    Ok(())
}

fn deleted(change: &ControllerChange) -> Result<(), ClientError> {
    let mut server = Remote::open(&change.server)?;
    server.delete(&["v1", "controllers", &change.id.to_string()])?;
    output::hint(&format!("controller {} deleted", change.id));
    Ok(())
}
