//! Which argument of which command is completed with what.

use std::ffi::OsStr;

use clap::{Arg, Command};
use clap_complete::engine::ArgValueCompleter;

use super::words::Words;
use super::{Candidate, LOCAL_PATIENCE, PATIENCE, local, remote, within_patience};

/// Finds names.
type Find = fn(&Words) -> Vec<Candidate>;

/// Adds completers to every argument that takes a name.
pub(super) fn with_completers(program: Command, words: &Words) -> Command {
    of_command(program, "", words)
}

fn of_command(command: Command, name: &str, words: &Words) -> Command {
    let add = |argument: Arg| match find(name, &argument) {
        None => argument,
        Some(find) => {
            let words = words.clone();
            let complete = move |typed: &OsStr| {
                let words = words.clone();
                let patience = match remote::is_named(&words) {
                    true => PATIENCE,
                    false => LOCAL_PATIENCE,
                };
                within_patience(typed, patience, move || find(&words))
            };
            argument.add(ArgValueCompleter::new(complete))
        }
    };
    command.mut_args(add).mut_subcommands(|inner| {
        let name = format!("{name} {}", inner.get_name());
        of_command(inner, name.trim_start(), words)
    })
}

/// What an argument of a command takes, if it takes a name.
fn find(command: &str, argument: &Arg) -> Option<Find> {
    let names = argument.get_value_names().unwrap_or_default();
    let kind = names.first().map_or("", |name| name.as_str());
    let group = command.split(' ').next().unwrap_or_default();
    Some(match (group, argument.get_long(), kind) {
        ("explain", None, "DECISION-ID") => local::decisions,
        (_, Some("tenant"), _) | ("tenant", None, "TENANT") => tenants,
        (_, Some("admission-control"), _) => |_| local::plugins(),
        ("eval", Some("policy"), _) => judges,
        ("controller" | "playground", Some("policy"), _) => local::policies,
        (_, Some("policy"), _) => local::deciders,
        (_, Some("profile"), _) => local::profiles,
        ("graph", None, "FILE|NAME") => |_| local::built_in_profiles(),
        (_, Some("authorizer"), _) => local::authorizers,
        (_, Some("chain"), _) => local::chains,
        (_, Some("context"), _) | ("context", None, "CONTEXT") => |_| local::contexts(),
        ("login", Some("name"), _) => |_| local::contexts(),
        (_, Some("authenticator"), _) => |words| local::access(words).1,
        ("job", None, "ID") | (_, Some("job"), "ID") | ("controller", None, "JOB") => remote::jobs,
        ("controller", None, "ID") | (_, Some("controller"), "ID") => remote::controllers,
        ("delivery", None, "ID") => remote::deliveries,
        ("runner", None, "ID") => remote::runners,
        ("autohold", None, "ID") => remote::holds,
        _ => return None,
    })
}

/// Tenants of the server that is named, or else of the configuration.
fn tenants(words: &Words) -> Vec<Candidate> {
    match remote::is_named(words) {
        true => remote::tenants(words),
        false => local::access(words).0,
    }
}

/// Policies and plug-ins.
fn judges(words: &Words) -> Vec<Candidate> {
    let mut all = local::policies(words);
    all.extend(local::plugins());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::program;

    /// Commands with the arguments that are completed.
    fn completed() -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![(String::new(), program())];
        while let Some((name, command)) = left.pop() {
            for inner in command.get_subcommands() {
                let name = format!("{name} {}", inner.get_name());
                left.push((name.trim_start().to_owned(), inner.clone()));
            }
            for argument in command.get_arguments() {
                if find(&name, argument).is_some() {
                    found.push(format!("{name} {}", argument.get_id()));
                }
            }
        }
        found
    }

    #[test]
    fn every_argument_that_takes_a_name_is_completed() {
        let completed = completed();
        for wanted in [
            "explain id",
            "explain policy",
            "decisions list policy",
            "decisions export policy",
            "eval policy",
            "eval chain",
            "eval admission_control",
            "serve admission_control",
            "check admission_control",
            "graph path profile",
            "graph check profile",
            "can-i profile",
            "can-i authorizer",
            "can-i tenant",
            "who-can tenant",
            "access-matrix tenant",
            "token create authenticator",
            "token create tenants",
            "tenant show tenant",
            "tenant pause tenant",
            "tenant resume tenant",
            "autohold list tenant",
            "autohold show id",
            "autohold release id",
            "pipeline enqueue tenant",
            "job show id",
            "job why id",
            "job trace id",
            "job retry id",
            "job cancel id",
            "runner matrix job",
            "runner pause id",
            "controller show id",
            "controller answer id",
            "controller answer job",
            "controller add policy",
            "delivery list job",
            "delivery list controller",
            "delivery redeliver id",
        ] {
            assert!(
                completed.iter().any(|one| one == wanted),
                "{wanted}: {completed:?}"
            );
        }
        // Names of jobs are not numbers.
        assert!(!completed.iter().any(|one| one == "autohold place job"));
    }
}
