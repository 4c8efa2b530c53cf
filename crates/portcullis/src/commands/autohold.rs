//! `portcullis autohold`: lists, shows, places and releases holds on a running server.

mod table;

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::remote::{Remote, ended};
use super::text::data;
use super::text::data::Output;
use super::text::plain::printable;
use super::text::terminal::Terminal;
use crate::arguments::{Server, span};
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Autohold {
    #[command(subcommand)]
    command: AutoholdCommand,
}

#[derive(Debug, Subcommand)]
enum AutoholdCommand {
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
struct AutoholdList {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// Only those of this project.
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct AutoholdShow {
    /// The id of the hold, as shown by `list`.
    #[arg(value_name = "ID")]
    id: String,
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct AutoholdPlace {
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// The project.
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// The job.
    #[arg(long, value_name = "JOB")]
    job: String,
    /// Only runs for this change, like 12,1.
    #[arg(long, value_name = "CHANGE", conflicts_with = "reference")]
    change: Option<String>,
    /// Only runs for this reference, like refs/heads/main.
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,
    /// The reason, and whom to ask.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// How many failing runs are held.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,
    /// How long nodes are held: seconds, or a duration like 24h [default: set by the server].
    #[arg(long, value_name = "TIME", value_parser = span)]
    keep: Option<Duration>,
    /// When the hold expires, used or not: seconds, or a duration like 2h.
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    lasting: Option<Duration>,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct AutoholdRelease {
    /// The id of the hold, as shown by `list`.
    #[arg(value_name = "ID")]
    id: String,
    /// The tenant.
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    #[command(flatten)]
    server: Server,
}

/// Does what the command line says.
pub(super) fn run(autohold: &Autohold) -> Exit {
    ended(match &autohold.command {
        AutoholdCommand::List(list) => listed(list),
        AutoholdCommand::Show(show) => shown(show),
        AutoholdCommand::Place(place) => placed(place),
        AutoholdCommand::Release(release) => released(release),
    })
}

fn listed(list: &AutoholdList) -> Result<(), ClientError> {
    let mut server = Remote::open(&list.server)?;
    let mut holds = server.get(&["tenant", &list.tenant, "autohold"])?;
    if let (Some(project), Some(items)) = (&list.project, holds.as_array_mut()) {
        items.retain(|hold| is_of(hold, project));
    }
    let items = holds.as_array().map_or(&[][..], Vec::as_slice);
    let terminal = Terminal::of_output();
    output::data(&data::write(&holds, list.output, || {
        match items.is_empty() {
            true => String::new(),
            false => table::list(items, terminal),
        }
    }));
    if items.is_empty() && list.output == Output::Table {
        output::hint("no holds found");
    }
    Ok(())
}

/// Whether a hold is of this project, by its name or by its name with the host.
fn is_of(hold: &Value, project: &str) -> bool {
    let without_host = project.split_once('/').map(|(_, rest)| rest);
    let name = hold.get("project").and_then(Value::as_str);
    name.is_some_and(|name| name == project || Some(name) == without_host)
}

fn shown(show: &AutoholdShow) -> Result<(), ClientError> {
    let mut server = Remote::open(&show.server)?;
    let hold = server.get(&["tenant", &show.tenant, "autohold", &show.id])?;
    output::data(&data::write(&hold, show.output, || {
        table::one(&hold, Terminal::of_output())
    }));
    Ok(())
}

fn placed(place: &AutoholdPlace) -> Result<(), ClientError> {
    let mut server = Remote::open(&place.server)?;
    let path = [
        "tenant",
        &place.tenant,
        "project",
        &place.project,
        "autohold",
    ];
    server.post(&path, &body(place))?;
    let runs = match place.count {
        1 => "the next failing run".to_owned(),
        count => format!("the next {count} failing runs"),
    };
    output::hint(&printable(&format!(
        "the nodes of {runs} of {} in {} will be held",
        place.job, place.project
    )));
    Ok(())
}

fn body(place: &AutoholdPlace) -> Value {
    let mut body = Map::new();
    let mut say = |key: &str, value: Value| body.insert(key.to_owned(), value);
    say("job", json!(place.job));
    say("count", json!(place.count));
    say("reason", json!(place.reason));
    say("change", json!(place.change));
    say("ref", json!(place.reference));
    say(
        "node_hold_expiration",
        json!(place.keep.map(|t| t.as_secs())),
    );
    if let Some(lasting) = place.lasting {
        say("expires_in", json!(lasting.as_secs()));
    }
    body.into()
}

fn released(release: &AutoholdRelease) -> Result<(), ClientError> {
    let mut server = Remote::open(&release.server)?;
    server.delete(&["tenant", &release.tenant, "autohold", &release.id])?;
    output::hint(&printable(&format!("hold {} released", release.id)));
    Ok(())
}
