//! `portcullis can-i ACTION`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use portcullis_roles::{AccessDecision, Condition, Permission};

use super::value;
use crate::arguments::Configuration;
use crate::commands::access::caller::Caller;
use crate::commands::access::scope::{ScopeFlags, parameter};
use crate::commands::access::{explained, phrases, scope};
use crate::commands::failure::Failure;
use crate::commands::text::data;
use crate::commands::text::data::Output;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::wrap::hanging;
use crate::exit::Exit;
use crate::output;

/// What only actions have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Actions of the REST API")]
pub(super) struct ActionFlags {
    /// In this tenant.
    #[arg(long, value_name = "TENANT", conflicts_with = "root")]
    pub(super) tenant: Option<String>,
    /// At the root of the API.
    #[arg(long)]
    pub(super) root: bool,
    /// The claims of a token, JSON; - for standard input.
    #[arg(long, value_name = "FILE|-", value_hint = ValueHint::FilePath, conflicts_with = "anonymous")]
    pub(super) claims: Option<PathBuf>,
    /// A caller without a token.
    #[arg(long)]
    pub(super) anonymous: bool,
    /// What the request is about, like project=foo: project, pipeline, ref, change, job or
    /// controller; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub(super) parameters: Vec<(Condition, String)>,
}

impl ActionFlags {
    /// The first that is given.
    pub(super) fn first(&self) -> Option<&'static str> {
        let all = [
            ("--tenant", self.tenant.is_some()),
            ("--root", self.root),
            ("--claims", self.claims.is_some()),
            ("--anonymous", self.anonymous),
            ("--param", !self.parameters.is_empty()),
        ];
        let mut given = all.into_iter().filter(|(_, is_given)| *is_given);
        given.next().map(|(flag, _)| flag)
    }
}

/// Whether a caller may take an action of the REST API.
#[derive(Debug)]
pub(super) struct CanIAction {
    pub(super) action: Permission,
    pub(super) place: ScopeFlags,
    pub(super) claims: Option<PathBuf>,
    pub(super) parameters: Vec<(Condition, String)>,
    pub(super) configuration: Configuration,
    pub(super) explain: bool,
    pub(super) output: Output,
}

/// Asks the engine, and prints its answer.
pub(super) fn run(asked: &CanIAction) -> Result<Exit, Failure> {
    let place = scope::read(&asked.configuration.file(), &asked.place)?;
    let resolved = place.resolved();
    let caller = Caller::of(asked.claims.as_deref(), &place.configuration.authenticators)?;
    scope::tell_unused(asked.action, &asked.parameters);
    let parameters = resolved.parameters(&asked.parameters)?;
    let explanation = resolved
        .scope
        .explain(caller.identity(), asked.action, &parameters.get());
    let is_yes = matches!(explanation.answer, AccessDecision::Allowed(_));
    let line = phrases::answer(&explanation, asked.action, &caller);
    let terminal = Terminal::of_output();
    let (action, given) = (asked.action, &asked.parameters);
    let mut value = value::answer(&resolved, action, given, &caller, &explanation, &line);
    if asked.explain {
        value.append(&mut value::explained(&explanation));
        let anonymous_read = resolved.scope.anonymous_read();
        value.insert("anonymous_read".to_owned(), anonymous_read.into());
    }
    output::data(&data::write(&value.into(), asked.output, || {
        let line = hanging(&printable(&line), 2, terminal.width);
        let mut text = terminal.answer(&line, is_yes);
        text.push('\n');
        if asked.explain {
            text.push('\n');
            text.push_str(&explained::text(
                &explanation,
                asked.action,
                &parameters.get(),
                &caller,
                resolved.scope.anonymous_read(),
                terminal,
            ));
        }
        text
    }));
    Ok(match is_yes {
        true => Exit::Yes,
        false => Exit::No,
    })
}
