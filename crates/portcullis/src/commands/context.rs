//! `portcullis context`: the servers that one has signed in to.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::failure::{Failure, ended};
use super::login::context_name;
use super::text::columns::{self, Cell};
use super::text::data::{self, Output};
use super::text::terminal::Terminal;
use crate::client::ClientError;
use crate::contexts::{self, Contexts};
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct ContextCommands {
    #[command(subcommand)]
    command: ContextCommand,
}

#[derive(Debug, Subcommand)]
enum ContextCommand {
    /// List contexts; `*` marks the current one.
    #[command(visible_alias = "ls")]
    List(ContextList),
    /// Make a context the current one.
    Use(Named),
    /// Delete a context, with its token. Use `portcullis logout` before to revoke it.
    #[command(visible_alias = "rm")]
    Delete(Named),
}

#[derive(Debug, Args)]
struct ContextList {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

#[derive(Debug, Args)]
struct Named {
    /// The context.
    #[arg(value_name = "CONTEXT", value_parser = context_name)]
    name: String,
}

/// Does what the command line says.
pub(super) fn run(commands: &ContextCommands) -> Exit {
    ended(match &commands.command {
        ContextCommand::List(list) => listed(list),
        ContextCommand::Use(named) => changed(
            &named.name,
            "is the current context now",
            |contexts, name| {
                contexts.get(name)?;
                contexts.current = Some(name.to_owned());
                Ok(())
            },
        ),
        ContextCommand::Delete(named) => changed(&named.name, "was deleted", |contexts, name| {
            Ok(contexts.remove(name)?)
        }),
    })
}

fn changed(
    name: &str,
    done: &str,
    change: impl FnOnce(&mut Contexts, &str) -> Result<(), ClientError>,
) -> Result<Exit, Failure> {
    contexts::change(|contexts| change(contexts, name))?;
    output::hint(&format!("{name} {done}"));
    Ok(Exit::Yes)
}

fn listed(list: &ContextList) -> Result<Exit, Failure> {
    let all = contexts::read().map_err(ClientError::from)?;
    let is_current = |name: &str| all.current.as_deref() == Some(name);
    // Nothing of a token is shown.
    let value: Vec<Value> = all
        .contexts
        .iter()
        .map(|one| {
            json!({
                "name": one.name,
                "current": is_current(&one.name),
                "server": one.server,
                "ca": one.ca,
                "issuer": one.login.as_ref().map(|login| &login.issuer),
                "signed_in": one.token.is_some(),
            })
        })
        .collect();
    let value = Value::from(value);
    let rows: Vec<Vec<Cell>> = all
        .contexts
        .iter()
        .map(|one| {
            let mark = if is_current(&one.name) { "*" } else { "" };
            let signed_in = if one.token.is_some() { "yes" } else { "no" };
            vec![
                mark.into(),
                Cell::id(one.name.as_str()),
                one.server.as_str().into(),
                Cell::state(signed_in),
            ]
        })
        .collect();
    output::data(&data::write(&value, list.output, || {
        match rows.is_empty() {
            true => String::new(),
            false => columns::table(
                &["CURRENT", "NAME", "SERVER", "SIGNED IN"],
                &rows,
                Terminal::of_output(),
            ),
        }
    }));
    if rows.is_empty() && list.output == Output::Table {
        output::hint("no contexts: `portcullis login --server URL` makes one");
    }
    Ok(Exit::Yes)
}
