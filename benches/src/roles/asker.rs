//! Asks a server many different questions over a few connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::gate::Gate;
use crate::asker::Asker;
use crate::clock;
use crate::failure::{Context, Result};
use crate::histogram::Histogram;
use crate::ledger::Ledger;
use crate::load::{Kept, Sample, Usage, measured, runtime};
use crate::transport::Transport;

/// How long an answer may take.
const LAST: Duration = Duration::from_secs(30);
/// Connections that use everything once.
const IN_A_PASS: usize = 64;

/// What is asked, one after the other.
#[derive(Debug)]
pub(super) struct Questions {
    /// The bytes of each.
    pub(super) requests: Vec<Vec<u8>>,
    /// The status that is right.
    pub(super) status: u16,
    /// Whether each is asked once only; the measurement ends with the last.
    pub(super) is_once: bool,
    /// Whether the server keeps a decision for each.
    pub(super) is_recorded: bool,
}

impl Questions {
    /// The same question again and again.
    pub(super) fn one(request: Vec<u8>, status: u16) -> Self {
        Self::several(vec![request], status)
    }

    /// These, in turns.
    pub(super) fn several(requests: Vec<Vec<u8>>, status: u16) -> Self {
        Self {
            requests,
            status,
            is_once: false,
            is_recorded: false,
        }
    }
}

async fn connect_all(gate: &Gate, transport: Transport, count: usize) -> Result<Vec<Asker>> {
    let mut askers = Vec::with_capacity(count);
    for _ in 0..count {
        askers.push(Asker::connect(&gate.places, transport).await?);
    }
    Ok(askers)
}

/// Whose turn it is, and what is to be done with the time it took.
struct Turns {
    next: AtomicUsize,
    is_measuring: AtomicBool,
    is_ending: AtomicBool,
}

/// Asks until told to end; latencies of the measured time, and how many were answered in all.
async fn ask_on(
    mut asker: Asker,
    questions: Arc<Questions>,
    turns: Arc<Turns>,
) -> Result<(Histogram, u64)> {
    let (mut latencies, mut answered) = (Histogram::default(), 0);
    let count = questions.requests.len();
    while !turns.is_ending.load(Ordering::Relaxed) {
        let turn = turns.next.fetch_add(1, Ordering::Relaxed);
        if questions.is_once && turn >= count {
            break;
        }
        let Some(request) = questions.requests.get(turn % count.max(1)) else {
            break;
        };
        let began = clock::now();
        asker.ask(request, questions.status).await?;
        answered += 1;
        if turns.is_measuring.load(Ordering::Relaxed) {
            latencies.record(clock::now().saturating_duration_since(began));
        }
    }
    Ok((latencies, answered))
}

/// Puts load on the server, for so many seconds or until every question was asked.
pub(super) fn measure(
    gate: &Gate,
    questions: &Arc<Questions>,
    (transport, connections): (Transport, usize),
    seconds: f64,
) -> Result<Sample> {
    let server = gate.server.pid();
    let ledger = questions
        .is_recorded
        .then(|| Ledger::begin(gate.metrics()))
        .transpose()?;
    runtime()?.block_on(async {
        let turns = Arc::new(Turns {
            next: AtomicUsize::new(0),
            is_measuring: AtomicBool::new(questions.is_once),
            is_ending: AtomicBool::new(false),
        });
        let askers = connect_all(gate, transport, connections).await?;
        let first = Usage::now(server)?;
        let asking: Vec<_> = askers
            .into_iter()
            .map(|asker| tokio::spawn(ask_on(asker, Arc::clone(questions), Arc::clone(&turns))))
            .collect();
        let mut window = None;
        if !questions.is_once {
            tokio::time::sleep(Duration::from_secs_f64(seconds / 5.0)).await;
            let before = Usage::now(server)?;
            turns.is_measuring.store(true, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            turns.is_measuring.store(false, Ordering::Relaxed);
            turns.is_ending.store(true, Ordering::Relaxed);
            window = Some((before, Usage::now(server)?));
        }
        let (mut latencies, mut answered) = (Histogram::default(), 0);
        for asked in asking {
            let joined = tokio::time::timeout(LAST, asked).await;
            let joined = joined.context("no answer in time")?;
            let (of_asker, count) = joined.context("a client broke")??;
            latencies.add(&of_asker);
            answered += count;
        }
        let answered_at = Usage::now(server)?;
        let kept = match &ledger {
            None => None,
            Some(ledger) => {
                let (counts, at) = ledger.settle(answered)?;
                let since = |moment| at.saturating_duration_since(moment).as_secs_f64();
                Some(Kept {
                    counts,
                    seconds: since(first.at),
                    after_seconds: since(answered_at.at),
                })
            }
        };
        let last = Usage::now(server)?;
        let whole = last.server.saturating_sub(first.server).as_secs_f64();
        let sample = match &window {
            Some((before, after)) => measured(before, after, &latencies)?,
            None => measured(&first, &answered_at, &latencies)?,
        };
        Ok(Sample {
            answered,
            whole_cpu_us: whole * 1e6 / answered as f64,
            kept,
            ..sample
        })
    })
}

/// Asks everything once over plain TCP, as fast as possible.
pub(super) fn pass(gate: &Gate, questions: &Arc<Questions>) -> Result<()> {
    let once = Arc::new(Questions {
        requests: questions.requests.clone(),
        is_once: true,
        ..Questions::several(Vec::new(), questions.status)
    });
    measure(gate, &once, (Transport::Tcp, IN_A_PASS), 0.0).map(|_| ())
}
