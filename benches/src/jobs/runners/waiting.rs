//! Thousands of runners that wait for a job, and how soon one of them is given the job that is submitted.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;

use super::super::gate::Gate;
use super::super::requests::first_id;
use super::super::usage::{Measured, Usage};
use super::claims::poll;
use super::register::waiting_tag;
use crate::asker::{Asker, request};
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::histogram::Histogram;
use crate::http1::Answer;
use crate::limits::raise_open_files;
use crate::load::runtime;
use crate::proc;
use crate::transport::Transport;

/// The header with the cursor.
const CURSOR: &str = "x-gitlab-last-update";
/// How long a job may take to reach a runner that waits.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is seen whether all runners wait.
const PAUSE: Duration = Duration::from_millis(20);

/// Runners that wait.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Waiting {
    pub(crate) runners: usize,
    /// Processors the server keeps busy while nothing happens.
    pub(crate) idle_processors: f64,
    /// The most memory of the server that was resident meanwhile, in KiB.
    pub(crate) peak_kib: u64,
    /// Jobs that were submitted, one after the other.
    pub(crate) jobs: u64,
    /// From the answer that a job is pending until a runner had it, in microseconds; 0 if the runner was first.
    pub(crate) pending_p50_us: f64,
    pub(crate) pending_p99_us: f64,
    pub(crate) pending_max_us: f64,
    /// From its submission until a runner had it.
    pub(crate) submit_p50_us: f64,
    pub(crate) submit_p99_us: f64,
    /// Processor time of the server for a job, in microseconds.
    pub(crate) cpu_us: f64,
}

/// A job that reached a runner.
struct Taken {
    job: u64,
    at: Instant,
}

/// Lets runners with these tokens wait, each with a connection of its own, and submits so many jobs for them.
pub(super) fn measure(
    gate: &Gate,
    measured: Measured,
    tokens: &[String],
    goes: usize,
    seconds: f64,
) -> Result<Waiting> {
    raise_open_files(tokens.len() as u64);
    proc::forget_peak(gate.pid());
    runtime()?.block_on(async {
        let (sender, mut taken) = mpsc::channel(tokens.len().max(1));
        let waiting = Arc::new(AtomicUsize::new(0));
        for token in tokens {
            let asker = Asker::connect(&gate.places, Transport::Tcp).await?;
            let (sender, waiting) = (sender.clone(), Arc::clone(&waiting));
            tokio::spawn(wait_on(asker, token.clone(), sender, waiting));
        }
        let began = clock::now();
        while waiting.load(Ordering::Relaxed) < tokens.len() {
            if clock::now().saturating_duration_since(began) > PATIENCE {
                return Err(Failure::new("not all runners wait for a job"));
            }
            tokio::time::sleep(PAUSE).await;
        }
        // Nothing happens now: what is used, waiting uses.
        let before = Usage::now(measured)?;
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        let idle = Usage::now(measured)?.since(&before);

        let mut submitter = Asker::connect(&gate.places, Transport::Tcp).await?;
        let (mut since_pending, mut since_submit) = (Histogram::default(), Histogram::default());
        let before = Usage::now(measured)?;
        let mut early = HashMap::new();
        for go in 0..goes {
            let request = job(go, &gate.header);
            let submitted = clock::now();
            let look = |answer: &Answer<'_>| {
                let id = first_id(&answer.body)?;
                (answer.status == 201).then_some(id)
            };
            let id = submitter.ask_for(&request, look).await?;
            let id = id.map_err(|wrong| Failure::new(format!("a job: got {wrong}")))?;
            let pending = clock::now();
            let at = taken_at(&mut taken, &mut early, id).await?;
            since_pending.record(at.saturating_duration_since(pending));
            since_submit.record(at.saturating_duration_since(submitted));
        }
        let used = Usage::now(measured)?.since(&before);
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        Ok(Waiting {
            runners: tokens.len(),
            idle_processors: idle.server / idle.seconds,
            peak_kib: proc::memory(gate.pid())?.peak_kib,
            jobs: since_pending.len(),
            pending_p50_us: micros(since_pending.quantile(0.5)),
            pending_p99_us: micros(since_pending.quantile(0.99)),
            pending_max_us: micros(since_pending.max()),
            submit_p50_us: micros(since_submit.quantile(0.5)),
            submit_p99_us: micros(since_submit.quantile(0.99)),
            cpu_us: used.server * 1e6 / since_pending.len().max(1) as f64,
        })
    })
}

/// When a runner had this job; others that were taken meanwhile are remembered.
async fn taken_at(
    taken: &mut mpsc::Receiver<Result<Taken>>,
    early: &mut HashMap<u64, Instant>,
    id: u64,
) -> Result<Instant> {
    loop {
        if let Some(at) = early.remove(&id) {
            return Ok(at);
        }
        let next = tokio::time::timeout(PATIENCE, taken.recv()).await;
        let next = next.context(format!("job {id} reached no runner"))?;
        let one = next.context("no runner waits any more")??;
        early.insert(one.job, one.at);
    }
}

/// Waits for jobs, one after the other; says when it had each.
async fn wait_on(
    mut asker: Asker,
    token: String,
    taken: mpsc::Sender<Result<Taken>>,
    waiting: Arc<AtomicUsize>,
) {
    let mut cursor: Option<String> = None;
    let mut is_counted = false;
    loop {
        // With a cursor the server holds the poll until something changes.
        if cursor.is_some() && !is_counted {
            waiting.fetch_add(1, Ordering::Relaxed);
            is_counted = true;
        }
        let look = |answer: &Answer<'_>| match answer.status {
            201 => Some((first_id(&answer.body), None)),
            204 => Some((None, answer.header(CURSOR).map(str::to_owned))),
            _ => None,
        };
        let request = poll(&token, cursor.as_deref());
        let said = match asker.ask_for(&request, look).await {
            Ok(Ok((Some(job), _))) => {
                let at = clock::now();
                // What changed for this runner is not known: the next poll asks anew.
                cursor = None;
                Ok(Taken { job, at })
            }
            Ok(Ok((None, next))) => {
                cursor = next;
                continue;
            }
            Ok(Err(wrong)) => Err(Failure::new(format!("a poll: got {wrong}"))),
            Err(failure) => Err(failure),
        };
        let has_failed = said.is_err();
        if taken.send(said).await.is_err() || has_failed {
            return;
        }
    }
}

fn job(number: usize, header: &str) -> Vec<u8> {
    let body = json!({
        "project": "waiting/room", "name": "job", "ref": "main", "ref_protected": true,
        "user": {"id": 1, "username": "alice"}, "tags": [waiting_tag(number)], "script": ["true"],
    });
    request("POST", "/api/v1/jobs", header, &body.to_string())
}
