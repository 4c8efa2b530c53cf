//! The commands, one file each.

mod access;
mod autohold;
mod check;
mod decisions;
mod documents;
mod eval;
mod explain;
mod graph;
mod init;
mod pipeline;
mod plugins;
pub(crate) mod policy_worker;
mod remote;
mod replay;
mod serve;
mod tenant;
mod test;
mod text;
mod token;

use portcullis_config::{ConfigSource, Listening, LoadOptions};

use crate::cli::{Admission, CanIForm, Cli, Command};
use crate::exit::Exit;
use crate::output;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Exit {
    match cli.command {
        Command::Serve(serve) => serve::run(&serve),
        Command::Check(check) => check::run(&check),
        Command::Eval(eval) => eval::run(&eval),
        Command::Test(test) => test::run(&test),
        Command::Init(init) => init::run(&init),
        Command::Decisions(decisions) => decisions::run(&decisions),
        Command::Explain(explain) => explain::run(&explain),
        Command::Replay(replay) => replay::run(&replay),
        Command::CanI(can_i) => match can_i.form() {
            Ok(CanIForm::Access(asked)) => graph::can_i(&asked),
            Ok(CanIForm::Action(asked)) => access::can_i(&asked),
            Err(error) => output::of_clap(&error),
        },
        Command::Graph(graph) => graph::run(&graph),
        Command::WhoCan(who_can) => access::who_can(&who_can),
        Command::AccessMatrix(matrix) => access::matrix(&matrix),
        Command::Token(token) => token::run(&token),
        Command::Tenant(tenant) => tenant::run(&tenant),
        Command::Autohold(autohold) => autohold::run(&autohold),
        Command::Pipeline(pipeline) => pipeline::run(&pipeline),
        Command::Plugins(plugins) => plugins::run(plugins.output),
        Command::Schema => documents::schema(),
        Command::Completions { shell } => documents::completions(shell),
        Command::Man => documents::man(),
        Command::Version(version) => documents::version(version.output),
    }
}

/// What to load, with the flags that go over it.
fn load_options<'a>(
    source: ConfigSource<'a>,
    admission: &Admission,
    known_plugins: &'a [&'a str],
) -> LoadOptions<'a> {
    LoadOptions {
        source,
        admission_control: admission.admission_control.clone(),
        admission_control_config_file: admission.admission_control_config_file.clone(),
        known_plugins,
        listeners: Listening::Needed,
        objects: None,
        coverage: false,
        env: &|name| std::env::var(name).ok(),
    }
}
