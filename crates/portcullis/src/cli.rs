//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod access;
mod autohold;
mod can_i;
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
mod store;
mod tenant;
mod test;
mod token;

pub(crate) use access::{AccessMatrix, Place, Who, WhoCan};
pub(crate) use autohold::{
    Autohold, AutoholdCommand, AutoholdList, AutoholdPlace, AutoholdRelease, AutoholdShow,
};
pub(crate) use can_i::{CanI, CanIAccess, CanIAction, CanIForm};
pub(crate) use decisions::{Decisions, DecisionsCommand, Export, Filter, List, door_name};
pub(crate) use eval::{Eval, Output, Report, ReportKind};
pub(crate) use explain::{DECISION_ID, Explain, ExplainOutput};
pub(crate) use graph::{
    Graph, GraphCheck, GraphCommand, GraphExport, GraphNeighbors, GraphPath, GraphPlace,
};
pub(crate) use init::{Init, Template};
pub(crate) use pipeline::{Dequeue, Enqueue, Item, Pipeline, PipelineCommand, Promote};
pub(crate) use replay::Replay;
pub(crate) use server::Server;
pub(crate) use store::Store;
pub(crate) use tenant::{Tenant, TenantCommand, TenantList, TenantPause, TenantResume, TenantShow};
pub(crate) use test::{Test, TestReport, TestReportKind};
pub(crate) use token::{Token, TokenCommand, TokenCreate};

/// One gate for everything that asks to get in.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, about, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 yes, 1 no, 2 usage, 3 invalid configuration, policy or manifest, 4 not signed in, 5 could not be done or decided, 6 nothing matched"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gate.
    ///
    /// Without --config a built-in demonstration runs on loopback, with a fresh data directory.
    Serve(Serve),
    /// Validate a configuration whole, and start nothing.
    Check(Check),
    /// Judge manifests as the server would, without a server or a cluster.
    Eval(Eval),
    /// Run the tests of policies: `*.test.yaml`, `*.test.ts` and `*.test.js`.
    Test(Test),
    /// Write a folder to start from: configuration, policies, tests, types.
    Init(Init),
    /// List or export what was decided.
    Decisions(Decisions),
    /// Say why something was decided as it was.
    Explain(Explain),
    /// Decide recorded requests again by another policy set, and say what would change.
    Replay(Replay),
    /// Say whether somebody may do something, and why: to a resource, or over the REST API.
    CanI(CanI),
    /// List whose people may do something.
    WhoCan(WhoCan),
    /// Show which rule has which permissions.
    AccessMatrix(AccessMatrix),
    /// Look at the relationship graph: paths, neighbours, profiles.
    Graph(Graph),
    /// Make tokens that end soon.
    Token(Token),
    /// Show, pause and resume the tenants of a running server.
    Tenant(Tenant),
    /// Keep what failing jobs ran on.
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
    Version,
}

/// What says which plug-ins run, for every command that needs a chain.
#[derive(Debug, Default, Args)]
pub(crate) struct Admission {
    /// Plug-ins in the order in which they run; wins over the configuration.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) admission_control: Option<Vec<String>>,
    /// Configuration of plug-ins, in the format of Kubernetes' `AdmissionConfiguration`.
    #[arg(long, value_name = "FILE")]
    pub(crate) admission_control_config_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Configuration file.
    #[arg(long, value_name = "FILE", env = "PORTCULLIS_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Where the server keeps what it makes.
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Directory of manifests for the graph profiles that name no source of objects.
    #[arg(long, value_name = "DIR")]
    pub(crate) objects: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) admission: Admission,
}

/// The configuration, for commands that need one but no server.
#[derive(Debug, Args)]
pub(crate) struct Configuration {
    /// Configuration file.
    #[arg(
        long = "config",
        value_name = "FILE",
        env = "PORTCULLIS_CONFIG",
        default_value = "portcullis.yaml"
    )]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) admission: Admission,
}

#[derive(Debug, Args)]
pub(crate) struct Plugins {
    /// How to print them.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// The arguments, with the one-dash spelling `-config-file` that acjs has.
pub(crate) fn arguments(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let spelled = |argument: OsString| match argument.to_str() {
        Some("-config-file") => OsString::from("--config"),
        Some(text) => match text.strip_prefix("-config-file=") {
            Some(file) => OsString::from(format!("--config={file}")),
            None => argument,
        },
        None => argument,
    };
    given.map(spelled).collect()
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
    fn the_one_dash_spelling_is_taken() {
        for spelling in [
            &["-config-file", "a.yaml"][..],
            &["-config-file=a.yaml"],
            &["--config", "a.yaml"],
        ] {
            let given = ["portcullis", "serve"]
                .iter()
                .chain(spelling)
                .map(OsString::from);
            let cli = Cli::try_parse_from(arguments(given)).unwrap();
            let Command::Serve(serve) = cli.command else {
                panic!("serve")
            };
            assert_eq!(serve.config, Some(PathBuf::from("a.yaml")));
        }
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
