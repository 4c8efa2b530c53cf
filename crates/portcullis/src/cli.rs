//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::colors;

mod access;
mod autohold;
mod can_i;
mod configuration;
mod decisions;
mod eval;
mod explain;
mod graph;
mod init;
mod moment;
mod pipeline;
mod replay;
mod server;
mod span;
mod spelling;
mod store;
mod tenant;
mod test;
mod token;

pub(crate) use access::{AccessMatrix, Place, Who, WhoCan};
pub(crate) use autohold::{
    Autohold, AutoholdCommand, AutoholdList, AutoholdPlace, AutoholdRelease, AutoholdShow,
};
pub(crate) use can_i::{CanI, CanIAccess, CanIAction, CanIForm};
pub(crate) use configuration::Configuration;
pub(crate) use decisions::{Decisions, DecisionsCommand, Export, Filter, List};
pub(crate) use eval::{Eval, EvalOutput, Output, ReportKind};
pub(crate) use explain::{DECISION_ID, Explain, ExplainOutput};
pub(crate) use graph::{
    Graph, GraphCheck, GraphCommand, GraphExport, GraphList, GraphNeighbors, GraphPath, GraphPlace,
};
pub(crate) use init::{Init, Template};
pub(crate) use pipeline::{Dequeue, Enqueue, Item, Pipeline, PipelineCommand, Promote};
pub(crate) use replay::Replay;
pub(crate) use server::Server;
pub(crate) use store::Store;
pub(crate) use tenant::{Tenant, TenantCommand, TenantList, TenantPause, TenantResume, TenantShow};
pub(crate) use test::{Test, TestOutput, TestReportKind};
pub(crate) use token::{Token, TokenCommand, TokenCreate};

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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server.
    ///
    /// Without any configuration a built-in demonstration runs on loopback, with a fresh data directory.
    Serve(Serve),
    /// Validate a configuration.
    Check(Check),
    /// Judge manifests and reviews as the server would, without a server or a cluster.
    Eval(Eval),
    /// Run the tests of policies: `*.test.yaml`, `*.test.ts` and `*.test.js`.
    Test(Test),
    /// Write a folder to start from: configuration, policies, tests, types.
    Init(Init),
    /// List or export decisions.
    Decisions(Decisions),
    /// Explain a decision.
    Explain(Explain),
    /// Decide recorded requests again with other policies, and show what would change.
    Replay(Replay),
    /// Check whether a user may do something: to a resource, or over the REST API.
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
    /// Run pipelines again, cancel them, or move changes to the front.
    Pipeline(Pipeline),
    /// List every plug-in with its phases, operations and configuration.
    Plugins(Plugins),
    /// Print the JSON Schema of the configuration file.
    Schema,
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
    /// Print the version.
    Version(Version),
}

/// Which plug-ins run, for every command that needs a chain.
#[derive(Debug, Default, Args)]
pub(crate) struct Admission {
    /// Plug-ins in the order in which they run; overrides the configuration.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) admission_control: Option<Vec<String>>,
    /// Configuration of plug-ins, in the format of Kubernetes' `AdmissionConfiguration`.
    #[arg(long, value_name = "FILE")]
    pub(crate) admission_control_config_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// Run the built-in demonstration on loopback, whatever configuration there is.
    #[arg(long, conflicts_with = "config")]
    pub(crate) demo: bool,
    /// Data directory of the server.
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Directory of manifests for the graph profiles that name no source of objects.
    #[arg(long, value_name = "DIR")]
    pub(crate) objects: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) admission: Admission,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) admission: Admission,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Plugins {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that wants them.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Reads the command line, and notes whether colours are wanted.
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

    #[test]
    fn a_configuration_has_one_flag_in_three_spellings() {
        for spelling in [
            &["-config-file", "a.yaml"][..],
            &["-config-file=a.yaml"],
            &["--config", "a.yaml"],
            &["-c", "a.yaml"],
        ] {
            let given = ["portcullis", "serve"].iter().chain(spelling);
            let cli = parse(given.map(OsString::from)).unwrap();
            let Command::Serve(serve) = cli.command else {
                panic!("serve")
            };
            assert_eq!(serve.configuration.found(), Some(PathBuf::from("a.yaml")));
        }
    }

    #[test]
    fn a_demonstration_has_no_configuration() {
        let given = ["portcullis", "serve", "--demo", "--config", "a.yaml"];
        let error = Cli::try_parse_from(given).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("--demo"), "{error}");
    }

    #[test]
    fn plugins_are_split_at_commas() {
        let cli = Cli::try_parse_from(["portcullis", "serve", "--admission-control=A,B"]).unwrap();
        let Command::Serve(serve) = cli.command else {
            panic!("serve")
        };
        assert_eq!(
            serve.admission.admission_control,
            Some(vec!["A".into(), "B".into()])
        );
    }
}
