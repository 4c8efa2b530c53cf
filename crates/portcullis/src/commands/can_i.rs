//! `portcullis can-i`, which has two forms: whether a user may do something to a resource, by the
//! authorizers; and whether a caller may take an action of the REST API, by the tenants.
//!
//! A second word selects the first form. Flags of the other form are errors with a message that
//! says what each of them needs.

mod action;
mod resource;
mod value;

use clap::Args;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use portcullis_gate::graph_answers::{AccessQuestion, ResourceText};

use self::action::{ActionFlags, CanIAction};
use self::resource::{CanIAccess, ResourceFlags};
use super::access::scope::{ScopeFlags, actions};
use super::failure::ended;
use super::graph::GraphFlags;
use super::text::data::Output;
use crate::arguments::Configuration;
use crate::exit::Exit;
use crate::output;

const NEEDS: &str = "`can-i VERB RESOURCE` needs --as USER; \
    `can-i ACTION` needs --tenant TENANT or --root, and --claims FILE or --anonymous";

/// Both forms, as they are written.
#[derive(Debug, Args)]
#[command(
    override_usage = "portcullis can-i <VERB> <RESOURCE>[.<GROUP>][/<NAME>] --as <USER> [OPTIONS]\n       \
    portcullis can-i <ACTION> --tenant <TENANT> --claims <FILE|-> [OPTIONS]"
)]
pub(crate) struct CanI {
    /// The verb, like get, or the action of the REST API, like enqueue.
    #[arg(value_name = "VERB|ACTION")]
    verb: String,
    /// The resource, like pods, deployments.apps or pods/web, or a path like /healthz.
    #[arg(value_name = "RESOURCE[.GROUP][/NAME]")]
    resource: Option<String>,
    #[command(flatten)]
    resources: ResourceFlags,
    #[command(flatten)]
    actions: ActionFlags,
    /// Show everything that was considered, and what would have allowed it.
    #[arg(long)]
    explain: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    graph: GraphFlags,
}

/// Says whether an action is allowed.
pub(super) fn run(can_i: CanI) -> Exit {
    match can_i.form() {
        Ok(CanIForm::Access(asked)) => ended(resource::run(&asked)),
        Ok(CanIForm::Action(asked)) => ended(action::run(&asked)),
        Err(error) => output::of_clap(&error),
    }
}

/// What is asked.
#[derive(Debug)]
enum CanIForm {
    /// May somebody do something to a resource?
    Access(Box<CanIAccess>),
    /// May somebody take an action of the REST API?
    Action(CanIAction),
}

impl CanI {
    /// Which form it is.
    ///
    /// # Errors
    ///
    /// When something is missing, or belongs to the other form.
    fn form(self) -> Result<CanIForm, clap::Error> {
        match self.resource.clone() {
            Some(resource) => {
                let asked = self.access(&resource)?;
                Ok(CanIForm::Access(Box::new(asked)))
            }
            None => self.action().map(CanIForm::Action),
        }
    }

    fn access(self, resource: &str) -> Result<CanIAccess, clap::Error> {
        if let Some(flag) = self.actions.first() {
            return Err(conflict(format!(
                "{flag} is for `can-i ACTION`, which takes no RESOURCE: {NEEDS}"
            )));
        }
        let flags = self.resources;
        let Some(user) = flags.user.filter(|user| !user.is_empty()) else {
            return Err(missing(format!("no user given: {NEEDS}")));
        };
        if let (Some(profile), Some(authorizer), None) =
            (&self.graph.profile, &flags.authorizer, &self.graph.objects)
            && profile != authorizer
        {
            return Err(conflict(format!(
                "--profile {profile} and --authorizer {authorizer} name different authorizers"
            )));
        }
        let what = resource.parse::<ResourceText>();
        let question = AccessQuestion {
            verb: self.verb,
            what: what.map_err(|wrong| invalid(wrong.to_string()))?,
            subresource: flags.subresource.unwrap_or_default(),
            namespace: flags.namespace.unwrap_or_default(),
            selector: flags.selector,
            field_selector: flags.field_selector,
            user,
            groups: flags.groups,
        };
        // What is wrong with selectors is found before anything is read.
        question
            .access()
            .map_err(|wrong| invalid(wrong.to_string()))?;
        Ok(CanIAccess {
            question,
            authorizer: flags.authorizer,
            place: self.graph,
            explain: self.explain,
            output: self.output,
        })
    }

    fn action(self) -> Result<CanIAction, clap::Error> {
        let graph = &self.graph;
        let others = [
            ("--profile", graph.profile.is_some()),
            ("--objects", graph.objects.is_some()),
            ("--server", graph.server.is_some()),
            ("--token", graph.token.is_some()),
            ("--ca", graph.ca.is_some()),
        ];
        let mut others = others.into_iter().filter(|(_, is_given)| *is_given);
        let other = self
            .resources
            .first()
            .or(others.next().map(|(flag, _)| flag));
        if let Some(flag) = other {
            return Err(missing(format!(
                "{flag} is for `can-i VERB RESOURCE`, and there is no RESOURCE: {NEEDS}"
            )));
        }
        let command = command();
        let mut arguments = command.get_arguments();
        let verb = arguments.find(|argument| argument.get_id() == "verb");
        let action = actions().parse_ref(&command, verb, self.verb.as_ref());
        if action.is_err() && self.actions.first().is_none() {
            let verb = &self.verb;
            return Err(missing(format!(
                "unknown action `{verb}`, and there is no RESOURCE: {NEEDS}"
            )));
        }
        let action = action.map_err(|error| error.with_cmd(&command))?;
        let flags = self.actions;
        if flags.tenant.is_none() && !flags.root {
            return Err(missing(format!("no tenant given: {NEEDS}")));
        }
        if flags.claims.is_none() && !flags.anonymous {
            return Err(missing(format!("no claims given: {NEEDS}")));
        }
        Ok(CanIAction {
            action,
            place: ScopeFlags {
                tenant: flags.tenant,
                root: flags.root,
            },
            claims: flags.claims,
            parameters: flags.parameters,
            configuration: Configuration::given(graph.config.clone()),
            explain: self.explain,
            output: self.output,
        })
    }
}

/// The command by itself, for the usage of errors.
fn command() -> clap::Command {
    let name = "portcullis can-i";
    let mut command = CanI::augment_args(clap::Command::new(name).bin_name(name));
    command.build();
    command
}

fn missing(message: String) -> clap::Error {
    command().error(ErrorKind::MissingRequiredArgument, message)
}

fn conflict(message: String) -> clap::Error {
    command().error(ErrorKind::ArgumentConflict, message)
}

fn invalid(message: String) -> clap::Error {
    command().error(ErrorKind::ValueValidation, message)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::Parser;
    use portcullis_roles::Permission;

    use super::*;
    use crate::cli::Cli;
    use crate::commands::Command;

    fn parse(arguments: &str) -> Result<CanIForm, clap::Error> {
        let all = ["portcullis", "can-i"].into_iter();
        let parsed = Cli::try_parse_from(all.chain(arguments.split_whitespace()))?;
        match parsed.command {
            Command::CanI(can_i) => can_i.form(),
            _ => panic!("can-i"),
        }
    }

    #[test]
    fn a_second_word_is_a_resource() {
        let Ok(CanIForm::Access(access)) = parse(
            "get shoots.core.gardener.cloud/a -n garden-a --subresource status --as u --as-group g --as-group h",
        ) else {
            panic!("access")
        };
        assert_eq!(
            access.question.parameters(),
            [
                ("verb", "get"),
                ("user", "u"),
                ("resource", "shoots"),
                ("group", "core.gardener.cloud"),
                ("name", "a"),
                ("subresource", "status"),
                ("namespace", "garden-a"),
                ("groups", "g"),
                ("groups", "h"),
            ]
        );
        let Ok(CanIForm::Action(action)) = parse("read --root --anonymous --config x") else {
            panic!("action")
        };
        assert_eq!(action.action, Permission::Read);
        assert_eq!(action.configuration.file(), PathBuf::from("x"));
    }

    #[test]
    fn one_place_and_one_caller_are_needed_for_an_action() {
        let with = |more: &str| parse(&format!("read --config x {more}"));
        assert!(with("--tenant t --claims -").is_ok());
        assert!(with("--root --anonymous").is_ok());
        for (wrong, told) in [
            ("--claims -", "--tenant TENANT"),
            ("--tenant t", "--claims FILE"),
            ("--tenant t --root --claims -", "--root"),
            ("--tenant t --claims - --anonymous", "--anonymous"),
        ] {
            let error = with(wrong).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{wrong}");
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn what_belongs_to_the_other_form_is_refused() {
        for (wrong, told) in [
            ("get pods", "needs --as USER"),
            (
                "get pods --as u --tenant t",
                "--tenant is for `can-i ACTION`",
            ),
            (
                "get pods --as u --param project=x",
                "--param is for `can-i ACTION`",
            ),
            ("get --as u", "there is no RESOURCE"),
            (
                "read --tenant t --anonymous --authorizer a",
                "--authorizer is for `can-i VERB RESOURCE`",
            ),
            (
                "read --tenant t --anonymous --server http://x",
                "--server is for",
            ),
            ("get pods/a/b --as u", "invalid resource"),
            ("get pods --as u --selector a=b,", "invalid label selector"),
            ("get /healthz -n x --as u", "has no namespace"),
            (
                "get pods --as u --profile a --authorizer b",
                "different authorizers",
            ),
            ("enque --root --anonymous", "'enqueue'"),
            ("", "VERB"),
        ] {
            let error = parse(wrong).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{wrong}");
            assert!(error.to_string().contains(told), "{wrong}: {error}");
            assert!(
                error.to_string().contains("can-i <ACTION>") || told == "'enqueue'",
                "{error}"
            );
        }
    }
}
