//! How jobs leave the queue: runners that poll for them, next to a backlog of jobs with fifty sets of tags.
//!
//! Runners are registered over the API (`register`); they take jobs as fast as they are given (`claims`), ask in vain,
//! and wait for jobs by the thousand (`waiting`). A runner of this benchmark takes a job and says nothing more of it;
//! the lease is long.

mod claims;
mod register;
mod waiting;

use std::path::Path;

use serde::Serialize;

pub(crate) use self::claims::Polls;
pub(crate) use self::waiting::Waiting;
use super::stand::{Purpose, Stand};
use super::{Admission, Build, Database, DecisionLog, backlog, builds};
use crate::cli::RunnerEffort;
use crate::failure::{Context, Result};
use crate::output;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Runners {
    /// Every database with every program.
    pub(crate) found: Vec<Queue>,
}

/// One queue and its runners.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Queue {
    pub(crate) database: Database,
    /// Whether with the older build.
    pub(crate) is_before: bool,
    /// Pending jobs at first.
    pub(crate) backlog: u64,
    /// Runners that wait, and as many that can take jobs of the backlog.
    pub(crate) runners: usize,
    /// Runners registered in a second.
    pub(crate) registered_per_second: f64,
    /// Polls that are given a job.
    pub(crate) hits: Polls,
    /// Polls that are not.
    pub(crate) misses: Polls,
    /// Runners that wait for a job.
    pub(crate) waiting: Waiting,
}

/// Measures runners, with the older build too if there is one.
pub(crate) fn run(
    portcullis: &Path,
    before: Option<&Path>,
    effort: &RunnerEffort,
) -> Result<Runners> {
    let databases = effort.databases();
    let mut stand = Stand::build(&databases)?;
    let mut found = Vec::new();
    for database in databases {
        for build in builds(portcullis, before) {
            let queue = measure(&mut stand, build, database, effort);
            found.push(queue.context(database.name())?);
        }
    }
    Ok(Runners { found })
}

fn measure(
    stand: &mut Stand,
    (program, is_before): Build<'_>,
    database: Database,
    effort: &RunnerEffort,
) -> Result<Queue> {
    let jobs = u64::from(effort.runner_backlog);
    let name = database.name();
    output::tell(&format!("runners: {jobs} pending jobs in {name}"));
    let (place, filled) = backlog::fill(stand, (program, is_before), database, jobs)?;
    let runners = usize::try_from(effort.runners).unwrap_or(usize::MAX);
    let purpose = Purpose {
        admission: Admission::None,
        log: DecisionLog::On,
        connections: runners + claims::CONNECTIONS,
    };
    let (gate, measured) = stand.start(program, purpose, &place)?;
    output::tell(&format!("runners: registering {runners} twice"));
    let registered = register::all(&gate, runners)?;
    output::tell("runners: polling");
    let seconds = effort.runner_seconds;
    let hits = claims::measure(&gate, measured, (&registered.takers, 201), seconds)?;
    let misses = claims::measure(&gate, measured, (&registered.idlers, 204), seconds)?;
    output::tell("runners: waiting");
    let goes = usize::from(effort.wakes);
    let waiting = waiting::measure(&gate, measured, &registered.waiters, goes, seconds)?;
    gate.stop()?;
    stand.remove(&place)?;
    Ok(Queue {
        database,
        is_before,
        backlog: filled.jobs,
        runners,
        registered_per_second: registered.per_second,
        hits,
        misses,
        waiting,
    })
}
