//! The command lines of `portcullis who-can` and `access-matrix`, and what `can-i` has in common with them.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use portcullis_roles::{Condition, Permission};

use super::{Configuration, Output};

#[derive(Debug, Args)]
pub(crate) struct WhoCan {
    /// The action.
    #[arg(value_name = "ACTION", value_parser = actions())]
    pub(crate) action: Permission,
    #[command(flatten)]
    pub(crate) place: Place,
    /// What the request is about, like project=foo; what is not given may be anything; may be
    /// repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub(crate) parameters: Vec<(Condition, String)>,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct AccessMatrix {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

/// Where.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Place {
    /// In this tenant.
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// At the root of the API.
    #[arg(long)]
    pub(crate) root: bool,
}

/// Who asks.
#[derive(Debug)]
pub(crate) struct Who {
    /// The claims of a token, JSON; - for standard input. None for a caller without a token.
    pub(crate) claims: Option<PathBuf>,
}

pub(super) fn actions() -> impl TypedValueParser<Value = Permission> {
    let known = Permission::ALL.iter().map(|permission| {
        let value = PossibleValue::new(permission.name());
        match permission {
            Permission::TenantState => value.alias("set-tenant-state"),
            _ => value,
        }
    });
    PossibleValuesParser::new(known)
        .try_map(|given| Permission::parse(&given).ok_or("no such action"))
}

pub(super) fn parameter(text: &str) -> Result<(Condition, String), String> {
    let known = || {
        let names: Vec<&str> = Condition::ALL.iter().map(|c| c.name()).collect();
        names.join(", ")
    };
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!(
            "expected NAME=VALUE, where NAME is one of {}",
            known()
        ));
    };
    match Condition::parse(name.trim()) {
        Some(condition) => Ok((condition, value.to_owned())),
        None => Err(format!(
            "nothing depends on `{}`; there are {}",
            name.trim(),
            known()
        )),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Command, clap::Error> {
        let all = ["portcullis"].iter().chain(arguments);
        Cli::try_parse_from(all).map(|cli| cli.command)
    }

    #[test]
    fn parameters_are_conditions() {
        assert_eq!(
            parameter("project=a=b"),
            Ok((Condition::Project, "a=b".into()))
        );
        assert_eq!(parameter("ref="), Ok((Condition::Ref, String::new())));
        for text in ["project", "projekt=a", "=a", ""] {
            let wrong = parameter(text).unwrap_err();
            assert!(wrong.contains("project, pipeline, ref, change"), "{wrong}");
        }
    }

    #[test]
    fn actions_have_one_other_name() {
        for name in ["tenant-state", "set-tenant-state"] {
            let given = ["who-can", name, "--root", "--config", "x"];
            let Command::WhoCan(who_can) = parse(&given).unwrap() else {
                panic!("who-can")
            };
            assert_eq!(who_can.action, Permission::TenantState);
        }
        let wrong = parse(&["who-can", "enque", "--root", "--config", "x"]).unwrap_err();
        let text = wrong.to_string();
        assert_eq!(wrong.exit_code(), 2);
        assert!(
            text.contains("'enqueue'") && text.contains("read-decisions"),
            "{text}"
        );
    }
}
