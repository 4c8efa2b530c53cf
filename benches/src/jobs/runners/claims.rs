//! Runners that ask for a job and are answered at once, over a few connections.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use super::super::gate::Gate;
use super::super::requests::first_id;
use super::super::usage::{Measured, Usage};
use crate::asker::{Asker, request};
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::histogram::Histogram;
use crate::http1::Answer;
use crate::load::runtime;
use crate::transport::Transport;

/// Polls under way at once.
pub(super) const CONNECTIONS: usize = 64;

/// Polls that were answered as expected.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Polls {
    pub(crate) polls: u64,
    pub(crate) per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
    /// Processor time for a poll, in microseconds: of the server, of the database's processes and of this program.
    pub(crate) cpu_us: f64,
    pub(crate) database_cpu_us: f64,
    pub(crate) own_cpu_us: f64,
    /// Processors that others kept busy meanwhile.
    pub(crate) others: f64,
}

/// The poll of the runner with this token, which knows the queue as of this cursor.
pub(super) fn poll(token: &str, cursor: Option<&str>) -> Vec<u8> {
    let mut body = json!({
        "token": token,
        "system_id": "s_0123456789ab",
        "info": {
            "name": "gitlab-runner", "version": "18.5.0", "platform": "linux", "architecture": "amd64",
            "executor": "docker", "shell": "bash", "features": {"two_phase_job_commit": true, "refspecs": true},
        },
    });
    if let (Some(body), Some(cursor)) = (body.as_object_mut(), cursor) {
        body.insert("last_update".to_owned(), cursor.into());
    }
    request("POST", "/api/v4/jobs/request", "", &body.to_string())
}

/// Polls with these tokens in turns for so long; every poll must be answered with this status. A backlog that is used
/// up ends it early. No job may be given twice.
pub(super) fn measure(
    gate: &Gate,
    measured: Measured,
    (tokens, status): (&[String], u16),
    seconds: f64,
) -> Result<Polls> {
    let requests: Vec<Vec<u8>> = tokens.iter().map(|token| poll(token, None)).collect();
    let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
    let (used, latencies, jobs) = runtime()?.block_on(async {
        let mut askers = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            askers.push(Asker::connect(&gate.places, Transport::Tcp).await?);
        }
        let before = Usage::now(measured)?;
        let until = clock::now() + Duration::from_secs_f64(seconds);
        let polling: Vec<_> = askers
            .into_iter()
            .map(|asker| {
                let (requests, next) = (Arc::clone(&requests), Arc::clone(&next));
                tokio::spawn(poll_on(asker, requests, next, (status, until)))
            })
            .collect();
        let (mut latencies, mut jobs) = (Histogram::default(), Vec::new());
        for one in polling {
            let (of_asker, ids) = one.await.context("a client broke")??;
            latencies.add(&of_asker);
            jobs.extend(ids);
        }
        Ok::<_, Failure>((Usage::now(measured)?.since(&before), latencies, jobs))
    })?;
    let different: BTreeSet<u64> = jobs.iter().copied().collect();
    if different.len() != jobs.len() {
        return Err(Failure::new("a job was given to two runners"));
    }
    let polls = latencies.len();
    if polls == 0 {
        return Err(Failure::new(format!("no poll was answered with {status}")));
    }
    let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
    let per_poll = |seconds: f64| seconds * 1e6 / polls as f64;
    Ok(Polls {
        polls,
        per_second: polls as f64 / used.seconds,
        p50_us: micros(latencies.quantile(0.5)),
        p99_us: micros(latencies.quantile(0.99)),
        max_us: micros(latencies.max()),
        cpu_us: per_poll(used.server),
        database_cpu_us: per_poll(used.database),
        own_cpu_us: per_poll(used.own),
        others: used.others(),
    })
}

/// Polls until it is time; latencies, and the jobs that were given.
async fn poll_on(
    mut asker: Asker,
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
    (status, until): (u16, Instant),
) -> Result<(Histogram, Vec<u64>)> {
    let (mut latencies, mut jobs) = (Histogram::default(), Vec::new());
    loop {
        let began = clock::now();
        let turn = next.fetch_add(1, Ordering::Relaxed);
        let request = requests.get(turn % requests.len().max(1));
        let Some(request) = request.filter(|_| began < until) else {
            return Ok((latencies, jobs));
        };
        let look = |answer: &Answer<'_>| Some((answer.status, first_id(&answer.body)));
        let found = asker.ask_for(request, look).await?;
        let (found, id) = found.map_err(Failure::new)?;
        match (found, status) {
            // Jobs of this set of tags are used up.
            (204, 201) => return Ok((latencies, jobs)),
            _ if found == status => {
                latencies.record(clock::now().saturating_duration_since(began));
                jobs.extend(id);
            }
            _ => {
                let failure = format!("a poll: expected {status}, got {found}");
                return Err(Failure::new(failure));
            }
        }
    }
}
