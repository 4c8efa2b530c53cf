//! A store with many pending jobs, filled through the API with large pipelines that nobody admits.

use std::path::Path;

use serde::Serialize;

use super::case::{Admission, Database, DecisionLog, Submission};
use super::sender::Senders;
use super::stand::{Place, Purpose, Stand};
use super::{pending, requests};
use crate::clock;
use crate::failure::Result;
use crate::load::runtime;

/// Jobs in a pipeline: as many as are allowed.
const IN_A_PIPELINE: u64 = 500;
/// Projects that the jobs are of.
const PROJECTS: u64 = 64;
/// Pipelines under way at once.
const CONNECTIONS: usize = 8;

/// How a store was filled.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Filled {
    pub(crate) database: Database,
    /// Whether by the older build.
    pub(crate) is_before: bool,
    /// Jobs that are pending in it.
    pub(crate) jobs: u64,
    /// Their ids, in order.
    #[serde(skip)]
    pub(crate) ids: Vec<u64>,
    /// Jobs that became pending in a second.
    pub(crate) jobs_per_second: f64,
    /// From the start of a server on it until it was ready, in milliseconds.
    pub(crate) ready_ms: f64,
}

/// Fills a new store with at least so many jobs.
pub(super) fn fill(
    stand: &mut Stand,
    (program, is_before): (&Path, bool),
    database: Database,
    jobs: u64,
) -> Result<(Place, Filled)> {
    let place = stand.place(database)?;
    let purpose = Purpose {
        admission: Admission::None,
        log: DecisionLog::Off,
        connections: CONNECTIONS,
    };
    let (gate, _) = stand.start(program, purpose, &place)?;
    // Every project has some of them, also of a few.
    let in_a_pipeline = (jobs / PROJECTS).clamp(1, IN_A_PIPELINE);
    let pipelines = jobs.div_ceil(in_a_pipeline);
    let size = usize::try_from(in_a_pipeline).unwrap_or(usize::MAX);
    let requests = requests::large_pipelines(size, &gate.header);
    let began = clock::now();
    let sent = runtime()?.block_on(async {
        let places = &gate.places;
        let senders = Senders::connect(places, CONNECTIONS, Submission::Pipeline, requests);
        let count = usize::try_from(pipelines).unwrap_or(usize::MAX);
        senders.await?.send_count(count).await
    })?;
    let mut ids = sent.ids;
    ids.sort_unstable();
    let filled = ids.len() as u64;
    let at = pending::settle(gate.metrics(), filled)?;
    gate.stop()?;
    stand.analyze(&place)?;
    // Once more, to see how long a start takes with all these jobs.
    let (gate, _) = stand.start(program, purpose, &place)?;
    let ready_ms = gate.ready.as_secs_f64() * 1e3;
    gate.stop()?;
    let seconds = at.saturating_duration_since(began).as_secs_f64();
    let found = Filled {
        database,
        is_before,
        jobs: filled,
        ids,
        jobs_per_second: filled as f64 / seconds,
        ready_ms,
    };
    Ok((place, found))
}
