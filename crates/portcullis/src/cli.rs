//! The command line as a whole. Each command defines its own arguments, in `commands/`.

use std::ffi::OsString;

use clap::Parser;

use crate::colors::{self, Color};
use crate::commands::Command;

mod spelling;

/// Admission and authorization controller for Kubernetes.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, about)]
#[command(
    after_help = "Exit codes: 0 yes, 1 no, 2 usage, 3 invalid configuration, policy or manifest, 4 not signed in, 5 could not be done or decided, 6 nothing matched"
)]
pub(crate) struct Cli {
    /// When to use colours; auto: on a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Parses the command line, and notes whether colours are requested.
///
/// # Errors
///
/// When it can't be understood, or asks for help or the version.
pub(crate) fn parse(given: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let given: Vec<OsString> = given.collect();
    let color = spelling::color(&given);
    let parsed = spelling::arguments(given.into_iter()).and_then(Cli::try_parse_from);
    colors::choose(parsed.as_ref().map_or(color, |cli| cli.color));
    parsed
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
