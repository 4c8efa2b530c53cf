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
mod context;
mod controller;
mod decisions;
mod delivery;
mod demo;
mod doctor;
mod documents;
mod eval;
mod explain;
mod failure;
mod generate;
mod graph;
mod health;
mod init;
mod job;
mod lint;
mod listing;
mod login;
mod pipeline;
mod playground;
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
mod watch;
mod who_can;

pub(crate) use self::text::wrap::wrapped;

use clap::Subcommand;

use self::access_matrix::AccessMatrix;
use self::autohold::Autohold;
use self::can_i::CanI;
use self::check::Check;
use self::context::ContextCommands;
use self::controller::Controller;
use self::decisions::Decisions;
use self::delivery::Delivery;
use self::demo::Demo;
use self::doctor::Doctor;
use self::documents::{Completions, Manual, Schema, Version};
use self::eval::Eval;
use self::explain::Explain;
use self::generate::Generate;
use self::graph::Graph;
use self::health::Health;
use self::init::Init;
use self::job::Job;
use self::lint::Lint;
use self::login::{Login, Logout, WhoAmI};
use self::pipeline::Pipeline;
use self::playground::Playground;
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
    /// Open a page to try policies on, with nothing else running.
    ///
    /// It listens on loopback, and everything that it stores is removed when it ends. The link that it prints signs in who
    /// follows it first. On a desktop a browser is opened.
    Playground(Playground),
    /// Send example requests to a server, so that its pages have something to show.
    ///
    /// Reviews of pods and other objects, questions about access, calls of the API, CI jobs and pipelines: some are
    /// allowed, some denied. They are recorded like all others: do not send them to a server that is in use.
    Demo(Demo),
    /// Check whether a running server is healthy.
    ///
    /// For probes of containers and services: it needs no shell and no other program. The server is the one that the
    /// configuration describes, asked at the first listener that serves `health` without TLS. Exits with 0 if it is ready
    /// for requests, and with 1 if it is not or does not answer.
    Health(Health),
    /// Validate a configuration.
    Check(Check),
    /// Evaluate manifests and reviews as the server would, without a server or a cluster.
    Eval(Eval),
    /// Run policy tests: `*.test.yaml`, `*.test.ts` and `*.test.js`.
    Test(Test),
    /// Find mistakes in policies: what compiles but can't be meant.
    Lint(Lint),
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
    /// Sign in to a server, and make it the current context.
    ///
    /// In the browser of this machine, or with a code that is entered into a browser anywhere (`--device`); which
    /// provider, the server says. Tokens are kept in `portcullis/config.yaml` in the configuration directory of the
    /// user, and are renewed before they expire.
    Login(Login),
    /// Sign out: revoke the token where that is possible, and delete it.
    Logout(Logout),
    /// Show who the server takes you for, and what you may do.
    #[command(name = "whoami")]
    WhoAmI(WhoAmI),
    /// List, choose and delete contexts: the servers that you have signed in to.
    Context(ContextCommands),
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
    /// Check configuration, certificates, store and registrations, and say what to do.
    ///
    /// Nothing is started and nothing is changed. Exit code 1 means that there is something to do.
    Doctor(Doctor),
    /// Print what a cluster needs: webhook registrations, authorization, roles.
    Generate(Generate),
    /// List every plug-in with its phases, operations and configuration.
    Plugins(Plugins),
    /// Print the JSON Schema of the configuration, of lists of policies, or of test cases.
    Schema(Schema),
    /// Print shell completions.
    Completions(Completions),
    /// Print the manual, or write its pages to a directory.
    Man(Manual),
    /// Print the version.
    Version(Version),
}

/// Does what the command line says; `program` defines the whole command line.
pub(crate) fn run(command: Command, program: fn() -> clap::Command) -> Exit {
    match command {
        Command::Serve(serve) => serve::run(&serve),
        Command::Playground(playground) => playground::run(&playground),
        Command::Demo(demo) => demo::run(&demo),
        Command::Health(health) => health::run(&health),
        Command::Check(check) => check::run(&check),
        Command::Eval(eval) => eval::run(&eval),
        Command::Test(test) => test::run(&test),
        Command::Lint(lint) => lint::run(&lint),
        Command::Init(init) => init::run(&init),
        Command::Decisions(decisions) => decisions::run(&decisions),
        Command::Explain(explain) => explain::run(&explain),
        Command::Replay(replay) => replay::run(&replay),
        Command::CanI(can_i) => can_i::run(can_i),
        Command::WhoCan(who_can) => who_can::run(&who_can),
        Command::AccessMatrix(matrix) => access_matrix::run(&matrix),
        Command::Doctor(doctor) => doctor::run(&doctor),
        Command::Generate(generate) => generate::run(&generate),
        Command::Graph(graph) => graph::run(&graph),
        Command::Token(token) => token::run(&token),
        Command::Login(login) => login::run(&login),
        Command::Logout(logout) => login::log_out(&logout),
        Command::WhoAmI(who) => login::who_am_i(&who),
        Command::Context(commands) => context::run(&commands),
        Command::Tenant(tenant) => tenant::run(&tenant),
        Command::Autohold(autohold) => autohold::run(&autohold),
        Command::Job(job) => job::run(&job),
        Command::Pipeline(pipeline) => pipeline::run(&pipeline),
        Command::Controller(controller) => controller::run(&controller),
        Command::Delivery(delivery) => delivery::run(&delivery),
        Command::Runner(runner) => runner::run(&runner),
        Command::Plugins(plugins) => plugins::run(&plugins),
        Command::Schema(schema) => documents::schema(&schema),
        Command::Completions(completions) => documents::completions(&completions),
        Command::Man(manual) => documents::man(&manual, program()),
        Command::Version(version) => documents::version(&version),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use crate::cli::program;

    /// Every command with its whole name, like `graph path`.
    fn all() -> Vec<(String, clap::Command)> {
        let mut found = Vec::new();
        let mut left = vec![(String::new(), program())];
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

    /// Commands without `--output json`, and why.
    const OTHER_OUTPUT: &[(&str, &str)] = &[
        ("serve", "prints no data"),
        ("playground", "prints no data"),
        ("health", "prints no data"),
        ("init", "prints no data"),
        ("schema", "is JSON always"),
        ("completions", "is a script"),
        ("man", "is for man"),
        ("decisions export", "is JSON, one document per line"),
        ("job trace", "is what the job wrote"),
        ("login", "prints no data"),
        ("logout", "prints no data"),
        ("context use", "prints no data"),
        ("context delete", "prints no data"),
        ("autohold place", "prints no data"),
        ("autohold release", "prints no data"),
        ("pipeline enqueue", "prints no data"),
        ("pipeline dequeue", "prints no data"),
        ("pipeline promote", "prints no data"),
        ("controller pause", "prints no data"),
        ("controller resume", "prints no data"),
        ("controller delete", "prints no data"),
        ("controller answer", "prints no data"),
        ("delivery redeliver", "prints no data"),
        ("runner pause", "prints no data"),
        ("runner resume", "prints no data"),
    ];

    #[test]
    fn every_command_that_prints_data_has_one_word_for_its_format() {
        let mut others = Vec::new();
        for (name, command) in all() {
            if command.has_subcommands() {
                continue;
            }
            let mut arguments = command.get_arguments();
            let output = arguments.find(|argument| argument.get_long() == Some("output"));
            let formats = output.map(|output| {
                assert_eq!(output.get_short(), Some('o'), "{name}");
                let values = output.get_possible_values();
                values
                    .iter()
                    .map(|value| value.get_name().to_owned())
                    .collect::<Vec<_>>()
            });
            let formats = formats.unwrap_or_default();
            let has = |format: &str| formats.iter().any(|one| one == format);
            match has("json") {
                // A whole graph is not written as a table, nor as YAML.
                true if name == "graph export" => assert!(has("dot")),
                // Manifests are not tables.
                true if name.starts_with("generate ") => assert!(has("yaml"), "{name}"),
                true => assert!(has("table") && has("yaml"), "{name}: {formats:?}"),
                false => others.push(name.clone()),
            }
            for argument in command.get_arguments() {
                let is_format = argument
                    .get_long()
                    .is_some_and(|long| has(long) || long == "json");
                assert!(!is_format || argument.is_hide_set(), "{name} {argument}");
            }
        }
        let mut expected: Vec<&str> = OTHER_OUTPUT.iter().map(|(name, _)| *name).collect();
        expected.sort_unstable();
        others.sort_unstable();
        assert_eq!(others, expected);
    }

    #[test]
    fn every_command_can_be_completed_and_has_a_manual_page() {
        let pages = super::documents::pages(program()).unwrap();
        let pages: String = pages.into_iter().map(|page| text(page.text)).collect();
        for (name, _) in all() {
            let title = format!("portcullis\\-{}", name.replace([' ', '-'], "\\-"));
            assert!(pages.contains(&title), "{name} has no page");
        }
        for (name, _) in all() {
            let mut words = vec!["portcullis"];
            words.extend(name.split(' '));
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let last = words.len() - 1;
            let found = clap_complete::engine::complete(&mut program(), words, last, None);
            let found = found.unwrap();
            let mut names = found.iter().map(|one| one.get_value().to_string_lossy());
            let own = name.rsplit(' ').next().unwrap();
            assert!(names.any(|found| found == own), "{name} is not completed");
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
