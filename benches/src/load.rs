//! Load on one server for a while: as many requests under way as there are clients, on one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::client::{self, Client, Target};
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::histogram::Histogram;
use crate::ledger::{Counts, Ledger};
use crate::proc;

/// How long to wait for the last answers.
const LAST: Duration = Duration::from_secs(10);

const WARMING_UP: u8 = 0;
const MEASURING: u8 = 1;
const ENDING: u8 = 2;

/// How much load, and how long.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Plan {
    /// How long to measure, in seconds; a fifth of it, unmeasured, goes before.
    pub(crate) seconds: f64,
    /// Requests under way at once.
    pub(crate) connections: usize,
}

/// What one measurement found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    /// Requests answered, all of them rightly.
    pub(crate) requests: u64,
    /// Requests answered in a second.
    pub(crate) per_second: f64,
    /// Processor time of the server for one request, in microseconds.
    pub(crate) cpu_us: f64,
    /// The latency that half of the requests did not exceed, in microseconds.
    pub(crate) p50_us: f64,
    /// The latency that 99 of 100 requests did not exceed, in microseconds.
    pub(crate) p99_us: f64,
    /// The longest latency, in microseconds.
    pub(crate) max_us: f64,
    /// Processors that others kept busy meanwhile: neither the server nor this program.
    pub(crate) others: f64,
    /// The most memory of the server that was resident meanwhile, in KiB.
    pub(crate) peak_kib: u64,
    /// Every request that was answered, those before and after the measured time included.
    pub(crate) answered: u64,
    /// Processor time of the server for one of these, in microseconds, until nothing was left to do
    /// for them.
    pub(crate) whole_cpu_us: f64,
    /// What became of the decisions on these, where decisions are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<Kept>,
}

/// What became of the decisions on every request that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Kept {
    /// How many were kept, how many not.
    #[serde(flatten)]
    pub(crate) counts: Counts,
    /// From the first request until all were accounted for, in seconds.
    pub(crate) seconds: f64,
    /// The part of that after the last answer, in seconds.
    pub(crate) after_seconds: f64,
}

/// Asks once and returns the answer's body, which is right. Where decisions are kept, this one is
/// accounted for.
pub(crate) fn ask_once(target: &Target<'_>) -> Result<Vec<u8>> {
    let ledger = ledger(target)?;
    let (answer, _) = ask_timed(target)?;
    if let Some(ledger) = ledger {
        ledger.settle(1)?;
    }
    Ok(answer)
}

/// Begins to count decisions, where they are kept.
fn ledger(target: &Target<'_>) -> Result<Option<Ledger>> {
    let keeps = target.scenario.subject.keeps_decisions();
    keeps.then(|| Ledger::begin(target.places.tcp)).transpose()
}

/// The same, and how long it took from connecting to the last byte of the answer.
pub(crate) fn ask_timed(target: &Target<'_>) -> Result<(Vec<u8>, Duration)> {
    runtime()?.block_on(async {
        let began = clock::now();
        let asking = async {
            let mut clients = client::open(target, 1).await?;
            clients.pop().context("no client")?.ask().await
        };
        let answer = tokio::time::timeout(LAST, asking).await;
        let answer = answer.context("no answer in time")??;
        let took = clock::now().saturating_duration_since(began);
        Ok((answer.to_vec(), took))
    })
}

/// Puts load on the server with this process id. Where decisions are kept, it waits until all of
/// these are accounted for, so that nobody else is charged for them.
pub(crate) fn measure(target: &Target<'_>, server: u32, plan: Plan) -> Result<Sample> {
    runtime()?.block_on(async {
        let phase = Arc::new(AtomicU8::new(WARMING_UP));
        let clients = client::open(target, plan.connections).await?;
        let ledger = ledger(target)?;
        let first = Usage::now(server)?;
        let asking: Vec<_> = clients
            .into_iter()
            .map(|client| tokio::spawn(ask_on(client, Arc::clone(&phase))))
            .collect();
        tokio::time::sleep(Duration::from_secs_f64(plan.seconds / 5.0)).await;
        proc::forget_peak(server);
        let before = Usage::now(server)?;
        phase.store(MEASURING, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs_f64(plan.seconds)).await;
        phase.store(ENDING, Ordering::Relaxed);
        let after = Usage::now(server)?;
        let (mut latencies, mut answered) = (Histogram::default(), 0);
        for asked in asking {
            let joined = tokio::time::timeout(LAST, asked)
                .await
                .context("no answer in time")?;
            let (of_client, count) = joined.context("a client broke")??;
            latencies.add(&of_client);
            answered += count;
        }
        let kept = match ledger {
            Some(ledger) => Some(kept(&ledger, first.at, answered)?),
            None => None,
        };
        let last = Usage::now(server)?;
        let peak_kib = proc::memory(server)?.peak_kib;
        let measured = measured(&before, &after, &latencies)?;
        Ok(Sample {
            peak_kib,
            answered,
            whole_cpu_us: last.server.saturating_sub(first.server).as_secs_f64() * 1e6
                / answered as f64,
            kept,
            ..measured
        })
    })
}

fn kept(ledger: &Ledger, began: Instant, answered: u64) -> Result<Kept> {
    let answered_at = clock::now();
    let (counts, at) = ledger.settle(answered)?;
    let seconds_since = |moment| at.saturating_duration_since(moment).as_secs_f64();
    Ok(Kept {
        counts,
        seconds: seconds_since(began),
        after_seconds: seconds_since(answered_at),
    })
}

/// Asks until it is told to end; latencies of the measured time, and how many were answered in all.
async fn ask_on(mut client: Client, phase: Arc<AtomicU8>) -> Result<(Histogram, u64)> {
    let (mut latencies, mut answered) = (Histogram::default(), 0);
    loop {
        let began = clock::now();
        client.ask_only().await?;
        answered += 1;
        let took = clock::now().saturating_duration_since(began);
        match phase.load(Ordering::Relaxed) {
            WARMING_UP => {}
            MEASURING => latencies.record(took),
            _ => return Ok((latencies, answered)),
        }
    }
}

/// What had been used at a moment.
pub(crate) struct Usage {
    /// The moment.
    pub(crate) at: Instant,
    /// Processor time of the server.
    pub(crate) server: Duration,
    own: Duration,
    machine: Duration,
}

impl Usage {
    /// Now, with the server of this process id.
    pub(crate) fn now(server: u32) -> Result<Self> {
        Ok(Self {
            at: clock::now(),
            server: proc::cpu_time(server)?,
            own: proc::cpu_time(std::process::id())?,
            machine: proc::machine_time()?,
        })
    }
}

/// What the measured time alone says.
pub(crate) fn measured(before: &Usage, after: &Usage, latencies: &Histogram) -> Result<Sample> {
    let requests = latencies.len();
    if requests == 0 {
        return Err(Failure::new("no request was answered in the time given"));
    }
    let seconds = after.at.saturating_duration_since(before.at).as_secs_f64();
    let server = after.server.saturating_sub(before.server).as_secs_f64();
    let own = after.own.saturating_sub(before.own).as_secs_f64();
    let machine = after.machine.saturating_sub(before.machine).as_secs_f64();
    let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
    Ok(Sample {
        requests,
        per_second: requests as f64 / seconds,
        cpu_us: server * 1e6 / requests as f64,
        p50_us: micros(latencies.quantile(0.5)),
        p99_us: micros(latencies.quantile(0.99)),
        max_us: micros(latencies.max()),
        others: ((machine - server - own) / seconds).max(0.0),
        peak_kib: 0,
        answered: requests,
        whole_cpu_us: server * 1e6 / requests as f64,
        kept: None,
    })
}

/// A runtime on this thread.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime for the load generator")
}
