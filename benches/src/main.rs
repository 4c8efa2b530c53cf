//! The benchmark of Portcullis.
//!
//! `run` starts the servers of all scenarios (`server`, `scenario`), asks them the same questions
//! over every transport in turns (`run`, `load`, `client`), and compares each with a server that
//! answers the same to all (`ceiling`). `start` measures how long a server takes to get ready. How
//! to read the figures is in `docs/benchmarks.md`.
//!
//! Every answer is looked at: a benchmark that does not would measure something else.

mod ceiling;
mod certificate;
mod cli;
mod client;
mod clock;
mod failure;
mod fixture;
mod histogram;
mod http1;
mod load;
mod output;
mod proc;
mod report;
mod run;
mod scenario;
mod server;
mod start;
mod statistics;
mod transport;

#[cfg(test)]
mod answers;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, Format, Load, Output, Program, Starts};
use crate::failure::{Context, Failure, Result};
use crate::load::Plan;
use crate::report::Report;
use crate::run::Selection;

/// The ceiling has the allocator that Portcullis has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match command(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::tell(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

fn command(command: Command) -> Result<()> {
    match command {
        Command::Run {
            program,
            load,
            output,
        } => report(&program, Some(&load), None, &output),
        Command::Start {
            program,
            starts,
            output,
        } => report(&program, None, Some(&starts), &output),
        Command::All {
            program,
            load,
            starts,
            output,
        } => report(&program, Some(&load), Some(&starts), &output),
        Command::Ceiling(options) => ceiling::run(options),
    }
}

fn report(
    program: &Program,
    load: Option<&Load>,
    starts: Option<&Starts>,
    output: &Output,
) -> Result<()> {
    let portcullis = &program.portcullis;
    if !portcullis.is_file() {
        let hint = "build it with `cargo build --release`, or name it with --portcullis";
        return Err(Failure::new(format!(
            "there is no program `{}`: {hint}",
            portcullis.display()
        )));
    }
    let mut report = Report::new();
    if let Some(starts) = starts {
        report.starts = start::run(portcullis, usize::from(starts.starts))?;
    }
    if let Some(load) = load {
        let plan = Plan {
            seconds: load.seconds,
            connections: usize::from(load.connections),
        };
        let selection = Selection {
            scenarios: load.scenario.clone(),
            transports: load.transport.clone(),
            rounds: usize::from(load.rounds),
        };
        report.add(run::run(portcullis, &selection, plan)?, plan);
    }
    let json = serde_json::to_string_pretty(&report).context("the report")? + "\n";
    if let Some(file) = &output.json {
        std::fs::write(file, &json).context(file.display())?;
    }
    match output.output {
        Format::Table => output::data(&report::table(&report)),
        Format::Json => output::data(&json),
    }
    Ok(())
}
