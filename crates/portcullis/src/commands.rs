//! The list of commands. Each is one file with its arguments and what it does, and a folder of the same
//! name if it has several parts.
//!
//! A new command is a file here, and in this file its module, a variant of [`Command`] and an arm of
//! [`run`].

mod access;
mod access_matrix;
mod autohold;
mod can_i;
mod check;
mod controller;
mod decisions;
mod delivery;
mod documents;
mod eval;
mod explain;
mod failure;
mod graph;
mod init;
mod job;
mod listing;
mod pipeline;
mod plugins;
pub(crate) mod policy_worker;
mod remote;
mod replay;
mod runner;
mod serve;
mod tenant;
mod test;
mod text;
mod token;
mod who_can;

use clap::Subcommand;

use self::access_matrix::AccessMatrix;
use self::autohold::Autohold;
use self::can_i::CanI;
use self::check::Check;
use self::controller::Controller;
use self::decisions::Decisions;
use self::delivery::Delivery;
use self::documents::{Completions, Version};
use self::eval::Eval;
use self::explain::Explain;
use self::graph::Graph;
use self::init::Init;
use self::job::Job;
use self::pipeline::Pipeline;
use self::plugins::Plugins;
use self::replay::Replay;
use self::runner::Runner;
use self::serve::Serve;
use self::tenant::Tenant;
use self::test::Test;
use self::token::Token;
use self::who_can::WhoCan;
use crate::exit::Exit;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server.
    ///
    /// Without any configuration a built-in demonstration runs on loopback, with a fresh data directory.
    Serve(Serve),
    /// Validate a configuration.
    Check(Check),
    /// Evaluate manifests and reviews as the server would, without a server or a cluster.
    Eval(Eval),
    /// Run policy tests: `*.test.yaml`, `*.test.ts` and `*.test.js`.
    Test(Test),
    /// Create a starter folder: configuration, policies, tests, types.
    Init(Init),
    /// List or export decisions.
    Decisions(Decisions),
    /// Explain a decision.
    Explain(Explain),
    /// Evaluate recorded requests with other policies, and show what would change.
    Replay(Replay),
    /// Check whether a user may act on a resource, or call the REST API.
    CanI(CanI),
    /// List who has a permission.
    WhoCan(WhoCan),
    /// Show which rule has which permissions.
    AccessMatrix(AccessMatrix),
    /// Query the relationship graph: paths, neighbours, profiles.
    Graph(Graph),
    /// Create short-lived tokens.
    Token(Token),
    /// Show, pause and resume the tenants of a running server.
    Tenant(Tenant),
    /// Hold nodes of failed jobs.
    Autohold(Autohold),
    /// Submit, show, retry and cancel CI jobs.
    Job(Job),
    /// Submit pipelines, run them again, cancel them, or move changes to the front.
    Pipeline(Pipeline),
    /// Add, test, pause and delete admission controllers of CI jobs.
    Controller(Controller),
    /// List what was sent to admission controllers, and send it again.
    Delivery(Delivery),
    /// List, pause and resume runners of CI jobs.
    Runner(Runner),
    /// List every plug-in with its phases, operations and configuration.
    Plugins(Plugins),
    /// Print the JSON Schema of the configuration file.
    Schema,
    /// Print shell completions.
    Completions(Completions),
    /// Print the manual page.
    Man,
    /// Print the version.
    Version(Version),
}

/// Does what the command line says; `program` defines the whole command line.
pub(crate) fn run(command: Command, program: fn() -> clap::Command) -> Exit {
    match command {
        Command::Serve(serve) => serve::run(&serve),
        Command::Check(check) => check::run(&check),
        Command::Eval(eval) => eval::run(&eval),
        Command::Test(test) => test::run(&test),
        Command::Init(init) => init::run(&init),
        Command::Decisions(decisions) => decisions::run(&decisions),
        Command::Explain(explain) => explain::run(&explain),
        Command::Replay(replay) => replay::run(&replay),
        Command::CanI(can_i) => can_i::run(can_i),
        Command::WhoCan(who_can) => who_can::run(&who_can),
        Command::AccessMatrix(matrix) => access_matrix::run(&matrix),
        Command::Graph(graph) => graph::run(&graph),
        Command::Token(token) => token::run(&token),
        Command::Tenant(tenant) => tenant::run(&tenant),
        Command::Autohold(autohold) => autohold::run(&autohold),
        Command::Job(job) => job::run(&job),
        Command::Pipeline(pipeline) => pipeline::run(&pipeline),
        Command::Controller(controller) => controller::run(&controller),
        Command::Delivery(delivery) => delivery::run(&delivery),
        Command::Runner(runner) => runner::run(&runner),
        Command::Plugins(plugins) => plugins::run(&plugins),
        Command::Schema => documents::schema(),
        Command::Completions(completions) => documents::completions(&completions, program()),
        Command::Man => documents::man(program()),
        Command::Version(version) => documents::version(&version),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{CommandFactory, ValueEnum};
    use clap_complete::Shell;

    use crate::cli::Cli;

    /// Every command with its whole name, like `graph path`.
    fn all() -> Vec<(String, clap::Command)> {
        let mut found = Vec::new();
        let mut left = vec![(String::new(), Cli::command())];
        while let Some((above, command)) = left.pop() {
            for inner in command.get_subcommands() {
                let name = format!("{above} {}", inner.get_name());
                left.push((name.clone(), inner.clone()));
                found.push((name.trim().to_owned(), inner.clone()));
            }
        }
        found
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_command_and_argument_says_what_it_is_for() {
        for (name, command) in all() {
            let about = command.get_about().map(ToString::to_string);
            assert!(about.is_some_and(|about| !about.is_empty()), "{name}");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name} {argument}");
            }
        }
    }

    #[test]
    fn every_command_can_be_completed_and_has_a_manual_page() {
        let pages = text(super::documents::pages(Cli::command()).unwrap());
        for (name, _) in all() {
            let title = format!("portcullis\\-{}", name.replace([' ', '-'], "\\-"));
            assert!(pages.contains(&title), "{name} has no page");
        }
        for shell in Shell::value_variants() {
            let script = text(super::documents::script(*shell, Cli::command()));
            for (name, command) in all() {
                // Scripts quote the name in one way or another.
                let is_there = script
                    .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
                    .any(|word| word == command.get_name());
                assert!(is_there, "{shell} does not know {name}");
            }
        }
    }

    #[test]
    fn every_command_is_documented() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = std::fs::read_to_string(root.join("README.md")).unwrap();
        for page in root.join("docs").read_dir().unwrap() {
            let page = page.unwrap().path();
            if page.extension().is_some_and(|ending| ending == "md") {
                pages.push_str(&std::fs::read_to_string(page).unwrap());
            }
        }
        for (name, _) in all() {
            let called = format!("portcullis {name}");
            assert!(pages.contains(&called), "no page shows `{called}`");
        }
    }
}
