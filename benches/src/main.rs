//! The benchmark of Portcullis.
//!
//! `run` starts the servers of all scenarios (`server`, `scenario`, `setup`), asks them the same
//! questions over every transport in turns (`cases`, `run`, `load`, `client`), and compares each with
//! a server that answers the same to all (`ceiling`) and, if asked for, with other programs (`peers`).
//! `start` measures how long a server takes to get ready and to answer for the first time; `decisions`
//! what kept decisions take on disk and how fast they are replayed (`archive`); `roles` what it costs to
//! know who asks and whether they may; `jobs` what it costs to admit CI jobs, and `runners` how they leave the queue;
//! `compare` measures two builds of the program beside each other. `fill` measures nothing: it writes much data to look at.
//! How to read the figures is in `docs/benchmarks.md`.
//!
//! Every answer is looked at: a benchmark that does not would measure something else.

mod archive;
mod asker;
mod cases;
mod ceiling;
mod certificate;
mod cli;
mod client;
mod clock;
mod compare;
mod failure;
mod fill;
mod fixture;
mod graph;
mod histogram;
mod http1;
mod jobs;
mod ledger;
mod limits;
mod load;
mod log;
mod metrics;
mod output;
mod peers;
mod plain;
mod policies;
mod proc;
mod report;
mod roles;
mod run;
mod scenario;
mod server;
mod setup;
mod start;
mod statistics;
mod transport;

#[cfg(test)]
mod answers;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use crate::cases::{Case, Selection};
use crate::cli::{
    Archived, Cli, Command, Format, GraphEffort, JobEffort, Load, Output, Program, RoleEffort,
    RunnerEffort, Starts,
};
use crate::failure::{Context, Failure, Result};
use crate::peers::Peer;
use crate::report::Report;
use crate::scenario::{Group, Scenario, Subject};

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
        } => report(
            &program,
            What {
                load: Some(&load),
                ..What::default()
            },
            &output,
        ),
        Command::Start {
            program,
            starts,
            output,
        } => report(
            &program,
            What {
                starts: Some(&starts),
                ..What::default()
            },
            &output,
        ),
        Command::Decisions {
            program,
            archived,
            output,
        } => report(
            &program,
            What {
                archived: Some(&archived),
                ..What::default()
            },
            &output,
        ),
        Command::Roles {
            program,
            roles,
            output,
        } => report(
            &program,
            What {
                roles: Some(&roles),
                ..What::default()
            },
            &output,
        ),
        Command::Graph {
            program,
            graph,
            output,
        } => report(
            &program,
            What {
                graph: Some(&graph),
                ..What::default()
            },
            &output,
        ),
        Command::Jobs {
            before,
            program,
            jobs,
            output,
        } => report(
            &program,
            What {
                jobs: Some((&jobs, before.as_deref())),
                ..What::default()
            },
            &output,
        ),
        Command::Runners {
            before,
            program,
            runners,
            output,
        } => report(
            &program,
            What {
                runners: Some((&runners, before.as_deref())),
                ..What::default()
            },
            &output,
        ),
        Command::All {
            program,
            load,
            starts,
            archived,
            roles,
            graph,
            jobs,
            output,
        } => {
            let all = What {
                load: Some(&load).filter(|_| load.has_scenarios()),
                starts: Some(&starts).filter(|_| load.has_scenarios()),
                archived: Some(&archived).filter(|_| load.is_whole(Group::Decisions)),
                roles: Some(&roles).filter(|_| load.is_whole(Group::Roles)),
                graph: Some(&graph).filter(|_| load.is_whole(Group::Graph)),
                jobs: Some((&jobs, None)).filter(|_| load.is_whole(Group::Jobs)),
                runners: None,
            };
            report(&program, all, &output)
        }
        Command::Compare {
            before,
            program,
            load,
            output,
        } => compare(&before, &program, &load, &output),
        Command::Fill(options) => fill::run(&options),
        Command::Ceiling(options) => ceiling::run(options),
    }
}

/// The parts of a report.
#[derive(Debug, Clone, Copy, Default)]
struct What<'a> {
    load: Option<&'a Load>,
    starts: Option<&'a Starts>,
    archived: Option<&'a Archived>,
    roles: Option<&'a RoleEffort>,
    graph: Option<&'a GraphEffort>,
    /// With an older build, if there is one.
    jobs: Option<(&'a JobEffort, Option<&'a Path>)>,
    /// The same.
    runners: Option<(&'a RunnerEffort, Option<&'a Path>)>,
}

impl What<'_> {
    /// Whether anything is measured that isn't done in this process.
    fn needs_program(&self) -> bool {
        self.load.is_some()
            || self.starts.is_some()
            || self.archived.is_some()
            || self.roles.is_some()
            || self.jobs.is_some()
            || self.runners.is_some()
    }
}

fn report(program: &Program, what: What<'_>, output: &Output) -> Result<()> {
    let portcullis = &program.portcullis;
    if what.needs_program() {
        must_exist(portcullis)?;
    }
    let mut report = Report::new();
    // First, while this process is small and its growth is the graph's.
    if let Some(effort) = what.graph {
        report.graph = Some(graph::run(effort)?);
    }
    if let Some(starts) = what.starts {
        report.starts = start::run(portcullis, usize::from(starts.starts))?;
    }
    // What can fail is done before what takes long.
    if let Some(archived) = what.archived {
        report.archive = Some(archive::run(portcullis, archived)?);
    }
    if let Some(effort) = what.roles {
        report.roles = Some(roles::run(portcullis, effort)?);
    }
    if let Some((effort, before)) = what.jobs {
        before.map_or(Ok(()), must_exist)?;
        report.jobs = Some(jobs::run(portcullis, before, effort)?);
    }
    if let Some((effort, before)) = what.runners {
        before.map_or(Ok(()), must_exist)?;
        report.runners = Some(jobs::runners::run(portcullis, before, effort)?);
    }
    if let Some(load) = what.load {
        measure(program, load, &mut report)?;
    }
    report.conclude();
    print(&report, || report::table(&report), output)?;
    report.roles.as_ref().map_or(Ok(()), roles::Roles::verdict)
}

fn compare(before: &Path, program: &Program, load: &Load, output: &Output) -> Result<()> {
    must_exist(before)?;
    must_exist(&program.portcullis)?;
    let effort = load.effort();
    let lines = compare::run(before, program.programs(), &cases(program, load)?, effort)?;
    print(&lines, || compare::table(&lines, effort), output)
}

fn must_exist(program: &Path) -> Result<()> {
    if program.is_file() {
        return Ok(());
    }
    let hint = "build it with `cargo build --release`, or name another one";
    Err(Failure::new(format!(
        "there is no program `{}`: {hint}",
        program.display()
    )))
}

/// Prints what was found as it is wanted, and writes it to the file that was named.
fn print(found: &impl Serialize, table: impl FnOnce() -> String, output: &Output) -> Result<()> {
    let json = serde_json::to_string_pretty(found).context("the report")? + "\n";
    if let Some(file) = &output.json {
        std::fs::write(file, &json).context(file.display())?;
    }
    match output.output {
        Format::Table => output::data(&table()),
        Format::Json => output::data(&json),
    }
    Ok(())
}

fn measure(program: &Program, load: &Load, report: &mut Report) -> Result<()> {
    let effort = load.effort();
    let measured = run::run(program.programs(), &cases(program, load)?, effort)?;
    report.add(measured, effort);
    Ok(())
}

/// What is to be measured under load.
fn cases(program: &Program, load: &Load) -> Result<Vec<Case>> {
    let selection = Selection {
        scenarios: load.scenario.clone(),
        groups: load.groups(),
        transports: load.transport.clone(),
        connections: load.connections.iter().copied().map(usize::from).collect(),
    };
    let all = available(scenario::all()?, program, &selection);
    cases::selected(all, &selection)
}

/// The scenarios without those of peers that are not there; whoever asked for them is told.
fn available(all: Vec<Scenario>, program: &Program, selection: &Selection) -> Vec<Scenario> {
    let is_there = |peer: &Peer| peer.program(&program.peers_dir).is_file();
    let missing: Vec<Peer> = Peer::ALL.into_iter().filter(|p| !is_there(p)).collect();
    let needs = |s: &Scenario, peer: Peer| matches!(s.subject, Subject::Peer(p, _) if p == peer);
    let is_asked = |s: &Scenario| match selection.scenarios.as_slice() {
        [] => selection.groups.contains(&Group::Peers),
        names => names.iter().any(|name| name == s.name),
    };
    for peer in &missing {
        if all.iter().any(|s| needs(s, *peer) && is_asked(s)) {
            let (name, place) = (peer.name(), program.peers_dir.display());
            output::tell(&format!(
                "{name} is left out: it is not in {place}, `scripts/bench-peers` builds it"
            ));
        }
    }
    let can_run = |s: &Scenario| !missing.iter().any(|peer| needs(s, *peer));
    all.into_iter().filter(can_run).collect()
}
