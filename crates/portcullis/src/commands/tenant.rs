//! `portcullis tenant`: lists, shows, pauses and resumes tenants on a running server.

mod table;

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::remote::{Remote, ended};
use super::text::data;
use super::text::data::Output;
use super::text::terminal::Terminal;
use crate::arguments::{Server, span};
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Tenant {
    #[command(subcommand)]
    command: TenantCommand,
}

#[derive(Debug, Subcommand)]
enum TenantCommand {
    /// List the tenants that you may see.
    List(TenantList),
    /// Show whether a tenant is paused, and why.
    #[command(visible_alias = "state")]
    Show(TenantShow),
    /// Pause or discard new pipelines, or pause results.
    ///
    /// States that no flag sets are kept; without any flag, new pipelines are paused.
    Pause(TenantPause),
    /// Resume everything.
    Resume(TenantResume),
}

#[derive(Debug, Args)]
struct TenantList {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct TenantShow {
    /// The tenant.
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct TenantPause {
    /// The tenant.
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Pause new pipelines until the tenant is resumed (the default).
    #[arg(long, conflicts_with = "discard")]
    triggers: bool,
    /// Pause results: finished jobs start no further stages.
    #[arg(long)]
    results: bool,
    /// Discard new pipelines instead of pausing them.
    #[arg(long)]
    discard: bool,
    /// The reason, shown to everyone who may see the tenant.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Resume automatically after this time: seconds, or a duration like 2h [default: keep the time that
    /// was set before].
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    lasting: Option<Duration>,
    /// Output format of the new state.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct TenantResume {
    /// The tenant.
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Output format of the new state.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

/// Does what the command line says.
pub(super) fn run(tenant: &Tenant) -> Exit {
    ended(match &tenant.command {
        TenantCommand::List(list) => listed(list),
        TenantCommand::Show(show) => shown(show),
        TenantCommand::Pause(pause) => paused(pause),
        TenantCommand::Resume(resume) => resumed(resume),
    })
}

fn listed(list: &TenantList) -> Result<(), ClientError> {
    let tenants = Remote::open(&list.server)?.get(&["tenants"])?;
    let items = tenants.as_array().map_or(&[][..], Vec::as_slice);
    let terminal = Terminal::of_output();
    output::data(&data::write(&tenants, list.output, || {
        match items.is_empty() {
            true => String::new(),
            false => table::list(items, terminal),
        }
    }));
    if items.is_empty() && list.output == Output::Table {
        output::hint("no tenants found");
    }
    Ok(())
}

fn shown(show: &TenantShow) -> Result<(), ClientError> {
    let status = Remote::open(&show.server)?.get(&["tenant", &show.tenant, "status"])?;
    let state = status.get("state").cloned().ok_or_else(|| {
        ClientError::Unreachable(
            "the server's answer does not contain the tenant's state".to_owned(),
        )
    })?;
    print(&show.tenant, &state, show.output);
    Ok(())
}

fn paused(pause: &TenantPause) -> Result<(), ClientError> {
    change(&pause.server, &pause.tenant, &pausing(pause), pause.output)
}

fn resumed(resume: &TenantResume) -> Result<(), ClientError> {
    let body = json!({
        "trigger_queue_paused": false,
        "trigger_queue_discarding": false,
        "result_queue_paused": false,
        "reason": null,
    });
    change(&resume.server, &resume.tenant, &body, resume.output)
}

fn change(server: &Server, tenant: &str, body: &Value, output: Output) -> Result<(), ClientError> {
    let state = Remote::open(server)?.post(&["tenant", tenant, "state"], body)?;
    print(tenant, &state, output);
    Ok(())
}

/// What is not named stays as it is.
fn pausing(pause: &TenantPause) -> Value {
    let mut body = Map::new();
    let mut say = |key: &str, value: Value| body.insert(key.to_owned(), value);
    if pause.triggers || !(pause.results || pause.discard) {
        say("trigger_queue_paused", json!(true));
        say("trigger_queue_discarding", json!(false));
    }
    if pause.discard {
        say("trigger_queue_discarding", json!(true));
    }
    if pause.results {
        say("result_queue_paused", json!(true));
    }
    if let Some(reason) = &pause.reason {
        say("reason", json!(reason));
    }
    if let Some(lasting) = pause.lasting {
        say("expires_in", json!(lasting.as_secs()));
    }
    body.into()
}

fn print(tenant: &str, state: &Value, output: Output) {
    output::data(&data::write(state, output, || {
        table::state(tenant, state, Terminal::of_output())
    }));
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;
    use crate::commands::Command;

    fn body(flags: &[&str]) -> Value {
        let all = ["portcullis", "tenant", "pause", "t1"].iter().chain(flags);
        let Command::Tenant(Tenant {
            command: TenantCommand::Pause(pause),
        }) = Cli::try_parse_from(all).unwrap().command
        else {
            panic!("tenant pause")
        };
        pausing(&pause)
    }

    #[test]
    fn only_what_is_named_is_changed() {
        let held = json!({"trigger_queue_paused": true, "trigger_queue_discarding": false});
        assert_eq!(body(&[]), held);
        assert_eq!(body(&["--triggers"]), held);
        assert_eq!(body(&["--results"]), json!({"result_queue_paused": true}));
        assert_eq!(
            body(&["--discard"]),
            json!({"trigger_queue_discarding": true})
        );
        assert_eq!(
            body(&["--results", "--discard", "--reason", "x", "--for", "2h"]),
            json!({
                "trigger_queue_discarding": true, "result_queue_paused": true,
                "reason": "x", "expires_in": 7200,
            })
        );
    }
}
