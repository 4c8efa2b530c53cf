//! `portcullis who-can`: lists who may do something, by a configuration.

use clap::Args;
use portcullis_roles::{Condition, Holder, Permission};

use super::access::phrases::when;
use super::access::scope::{ScopeFlags, actions, parameter};
use super::access::{scope, value};
use super::failure::ended;
use super::text::data::Output;
use super::text::terminal::Terminal;
use super::text::{columns, data};
use crate::arguments::Configuration;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct WhoCan {
    /// The action.
    #[arg(value_name = "ACTION", value_parser = actions())]
    action: Permission,
    #[command(flatten)]
    place: ScopeFlags,
    /// What the request is about, like project=foo [default: anything]; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(Condition, String)>,
    #[command(flatten)]
    configuration: Configuration,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Lists who has a permission.
pub(super) fn run(asked: &WhoCan) -> Exit {
    ended(
        scope::read(&asked.configuration.file(), &asked.place).and_then(|place| {
            let resolved = place.resolved();
            scope::tell_unused(asked.action, &asked.parameters);
            let parameters = resolved.parameters(&asked.parameters)?;
            let holders = resolved.scope.who_can(asked.action, &parameters.get());
            let anybody = resolved.is_read_by_anybody(asked.action);
            let value = value::who_can(
                &resolved,
                asked.action,
                &asked.parameters,
                anybody,
                &holders,
            );
            let terminal = Terminal::of_output();
            output::data(&data::write(&value, asked.output, || {
                table(&holders, anybody, terminal)
            }));
            if !holders.is_empty() || anybody {
                return Ok(Exit::Yes);
            }
            if asked.output == Output::Table {
                output::hint("no rule grants it to anyone");
            }
            Ok(Exit::No)
        }),
    )
}

/// One grant a row.
fn table(holders: &[Holder], anybody: bool, terminal: Terminal) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    if anybody {
        let anybody = ["-", "-", "always", "anyone, without signing in"];
        rows.push(anybody.map(str::to_owned).to_vec());
    }
    rows.extend(holders.iter().map(|holder| {
        let grant = &holder.grant;
        let conditions = match grant.conditions.is_empty() {
            true => "always".to_owned(),
            false => when(&grant.conditions),
        };
        vec![
            grant.rule.clone(),
            grant.role.clone(),
            conditions,
            holder.asks.clone(),
        ]
    }));
    match rows.is_empty() {
        true => String::new(),
        false => columns::table(&["RULE", "ROLE", "WHEN", "CLAIMS"], &rows, terminal),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Command;
    use super::*;
    use crate::cli::Cli;
    use crate::commands::access::sample;

    fn parse(arguments: &[&str]) -> Result<Command, clap::Error> {
        let all = ["portcullis"].iter().chain(arguments);
        Cli::try_parse_from(all).map(|cli| cli.command)
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

    #[test]
    fn holders_are_rows() {
        let holder = |grant, asks: &str| Holder {
            grant,
            asks: asks.to_owned(),
        };
        let holders = [
            holder(sample::admin(), "preferred_username is `admin`"),
            holder(sample::grant(), "preferred_username is `alice`"),
        ];
        assert_eq!(
            table(&holders, false, Terminal::default()),
            "\
RULE        ROLE          WHEN                                         CLAIMS
admin-user  admin         always                                       preferred_username is `admin`
alice       enqueue-post  project is foo and pipeline is post or gate  preferred_username is `alice`
"
        );
        assert_eq!(table(&[], false, Terminal::default()), "");
        assert!(table(&[], true, Terminal::default()).contains("anyone, without signing in"));
    }
}
