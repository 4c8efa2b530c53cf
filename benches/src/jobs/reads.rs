//! How long lists and single jobs take to read, one request at a time.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::backlog::Filled;
use super::case::{Admission, Database, DecisionLog};
use super::requests::project;
use super::stand::{Place, Purpose, Stand};
use super::usage::Usage;
use crate::asker::{Asker, request};
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::histogram::Histogram;
use crate::load::runtime;
use crate::transport::Transport;

/// How many requests of a kind differ.
const DIFFERENT: usize = 64;

/// How long one kind of request takes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Read {
    pub(crate) database: Database,
    /// Whether with the older build.
    pub(crate) is_before: bool,
    /// Pending jobs in the store.
    pub(crate) backlog: u64,
    /// What is read.
    pub(crate) what: &'static str,
    pub(crate) requests: u64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
    /// Processor time for a request, in microseconds: of the server, and of the database's processes.
    pub(crate) cpu_us: f64,
    pub(crate) database_cpu_us: f64,
}

/// The path of the request with this number, where there are these jobs.
type PathOf = fn(usize, &[u64]) -> String;

/// What is read: a name, and its paths.
const KINDS: [(&str, PathOf); 5] = [
    ("a job", |number, jobs| {
        let id = jobs.get(number * jobs.len() / DIFFERENT);
        format!("/api/v1/jobs/{}", id.unwrap_or(&0))
    }),
    ("newest 50", |_, _| "/api/v1/jobs".to_owned()),
    ("newest 50 pending", |_, _| {
        "/api/v1/jobs?status=pending".to_owned()
    }),
    ("50 pending in the middle", |number, jobs| {
        let before = jobs.get(jobs.len() / 2 + number).unwrap_or(&1);
        format!("/api/v1/jobs?status=pending&page={before}")
    }),
    ("50 pending of a project", |number, _| {
        let project = project(number);
        format!("/api/v1/jobs?status=pending&project={project}")
    }),
];

/// Reads everything from this store, each kind for so long.
pub(super) fn measure(
    stand: &Stand,
    program: &Path,
    (place, filled): (&Place, &Filled),
    seconds: f64,
) -> Result<Vec<Read>> {
    let purpose = Purpose {
        admission: Admission::None,
        log: DecisionLog::Off,
        connections: 1,
    };
    let (gate, measured) = stand.start(program, purpose, place)?;
    let mut found = Vec::with_capacity(KINDS.len());
    for (what, path) in KINDS {
        let requests: Vec<Vec<u8>> = (0..DIFFERENT)
            .map(|number| request("GET", &path(number, &filled.ids), &gate.header, ""))
            .collect();
        let (used, latencies) = runtime()?.block_on(async {
            let mut asker = Asker::connect(&gate.places, Transport::Tcp).await?;
            for request in &requests {
                asker.ask(request, 200).await.context(what)?;
            }
            let before = Usage::now(measured)?;
            let until = clock::now() + Duration::from_secs_f64(seconds);
            let mut latencies = Histogram::default();
            for request in requests.iter().cycle() {
                let began = clock::now();
                if began >= until {
                    break;
                }
                asker.ask(request, 200).await.context(what)?;
                latencies.record(clock::now().saturating_duration_since(began));
            }
            Ok::<_, Failure>((Usage::now(measured)?.since(&before), latencies))
        })?;
        let count = latencies.len().max(1) as f64;
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        found.push(Read {
            database: filled.database,
            is_before: filled.is_before,
            backlog: filled.jobs,
            what,
            requests: latencies.len(),
            p50_us: micros(latencies.quantile(0.5)),
            p99_us: micros(latencies.quantile(0.99)),
            max_us: micros(latencies.max()),
            cpu_us: used.server * 1e6 / count,
            database_cpu_us: used.database * 1e6 / count,
        });
    }
    gate.stop()?;
    Ok(found)
}
