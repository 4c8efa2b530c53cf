//! `portcullis can-i ACTION`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use portcullis_roles::{Answer, Condition, Permission};

use crate::arguments::Configuration;
use crate::commands::access::caller::Caller;
use crate::commands::access::place::{Place, parameter};
use crate::commands::access::{explained, place, value, words};
use crate::commands::failure::Failure;
use crate::commands::text::data;
use crate::commands::text::data::Output;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
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

/// May somebody take an action of the REST API?
#[derive(Debug)]
pub(in crate::commands) struct CanIAction {
    pub(in crate::commands) action: Permission,
    pub(in crate::commands) place: Place,
    pub(in crate::commands) claims: Option<PathBuf>,
    pub(in crate::commands) parameters: Vec<(Condition, String)>,
    pub(in crate::commands) configuration: Configuration,
    pub(in crate::commands) explain: bool,
    pub(in crate::commands) output: Output,
}

/// Asks the engine, and prints its answer.
pub(super) fn run(asked: &CanIAction) -> Result<Exit, Failure> {
    let place = place::read(&asked.configuration.file(), &asked.place)?;
    let spot = place.spot();
    let caller = Caller::of(asked.claims.as_deref(), &place.configuration.authenticators)?;
    place::tell_unused(asked.action, &asked.parameters);
    let parameters = spot.parameters(&asked.parameters)?;
    let explanation = spot
        .scope
        .explain(caller.identity(), asked.action, &parameters.get());
    let is_yes = matches!(explanation.answer, Answer::Allowed(_));
    let line = words::answer(&explanation, asked.action, &caller);
    let terminal = Terminal::of_output();
    let value = value::can_i(&spot, asked, &caller, &explanation, &line);
    output::data(&data::write(&value, asked.output, || {
        let mut text = terminal.answer(&printable(&line), is_yes);
        text.push('\n');
        if asked.explain {
            text.push('\n');
            text.push_str(&explained::text(
                &explanation,
                asked.action,
                &parameters.get(),
                &caller,
                spot.scope.anonymous_read(),
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
