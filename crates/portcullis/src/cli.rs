//! The command line as a whole. Each command defines its own arguments, in `commands/`.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgAction, Command, CommandFactory, FromArgMatches, Parser};

use crate::colors::{self, Color};
use crate::commands;
use crate::contexts;
use crate::verbosity::{self, Verbosity};

mod help;
mod spelling;

/// The heading of options that every command has.
const GLOBAL: &str = "Global options";

/// Admission and authorization controller for Kubernetes.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, about)]
#[command(
    after_help = "Exit codes: 0 yes, 1 no, 2 usage, 3 invalid configuration, policy or manifest, 4 not signed in, 5 could not be done or decided, 6 nothing matched"
)]
pub(crate) struct Cli {
    /// When to use colours; auto: on a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// Print no hints, progress and closing lines; errors and warnings are printed.
    #[arg(short, long, global = true, help_heading = GLOBAL, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print what is done, like the files and servers in use and how long requests take; may be repeated. For `serve`:
    /// log at level debug, twice for trace.
    #[arg(short, long, global = true, help_heading = GLOBAL, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// The context to use, with its server and token [env: `PORTCULLIS_CONTEXT`] [default: the current one].
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "NAME")]
    pub(crate) context: Option<String>,
    #[command(subcommand)]
    pub(crate) command: commands::Command,
}

/// Parses the command line, and notes whether colours are requested.
///
/// # Errors
///
/// When it can't be understood, or asks for help or the version.
pub(crate) fn parse(given: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let given: Vec<OsString> = given.collect();
    let color = spelling::color(&given);
    let parsed = spelling::arguments(given.into_iter()).and_then(understood);
    colors::choose(parsed.as_ref().map_or(color, |cli| cli.color));
    if let Ok(cli) = &parsed {
        verbosity::choose(Verbosity::new(cli.quiet, cli.verbose));
        contexts::choose(cli.context.clone());
    }
    parsed
}

/// The definition of the command line, with groups and examples.
pub(crate) fn program() -> Command {
    help::with_help(Cli::command())
}

fn understood(given: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut program = program();
    let mut found = program.try_get_matches_from_mut(given)?;
    let cli = Cli::from_arg_matches_mut(&mut found).map_err(|error| error.format(&mut program))?;
    // One may stand before the command, the other one after it.
    match cli.quiet && cli.verbose > 0 {
        true => Err(program.error(
            ErrorKind::ArgumentConflict,
            "the argument '--quiet' cannot be used with '--verbose'",
        )),
        false => Ok(cli),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        program().debug_assert();
    }
}
