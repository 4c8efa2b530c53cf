//! Checks per second on two threads, with and without changes beside them.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use portcullis_graph::{Graph, VertexRef};
use serde::Serialize;

use super::updates::Mover;
use crate::clock;
use crate::failure::{Failure, Result};
use crate::statistics::{Summary, of_rate};

/// Threads that ask.
const THREADS: usize = 2;
/// Changes in a second.
const UPDATES: u32 = 100;
/// Questions between two looks at the clock's flag.
const BATCH: usize = 64;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Rates {
    pub(crate) threads: usize,
    /// Nothing changes.
    pub(crate) alone: Summary,
    pub(crate) updates_per_second: u32,
    /// Objects change beside it.
    pub(crate) with_updates: Summary,
}

/// Asks everything in turns, for so long and so often.
pub(super) fn run(
    graph: &Graph,
    named: &[(VertexRef<'_>, VertexRef<'_>)],
    mover: &mut Mover<'_>,
    time: Duration,
    rounds: usize,
) -> Result<Rates> {
    let (mut alone, mut with_updates) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        alone.push(asked(graph, named, time, None)?);
        with_updates.push(asked(graph, named, time, Some(mover))?);
    }
    Ok(Rates {
        threads: THREADS,
        alone: of_rate(&alone),
        updates_per_second: UPDATES,
        with_updates: of_rate(&with_updates),
    })
}

fn asked(
    graph: &Graph,
    named: &[(VertexRef<'_>, VertexRef<'_>)],
    time: Duration,
    mover: Option<&mut Mover<'_>>,
) -> Result<f64> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let askers: Vec<_> = (0..THREADS)
            .map(|asker| {
                let done = &done;
                scope.spawn(move || {
                    let began = clock::now();
                    let mut asked = 0_usize;
                    // Each begins elsewhere.
                    let at = named.len() / THREADS * asker;
                    for some in named.chunks(BATCH).cycle().skip(at / BATCH) {
                        if done.load(Ordering::Relaxed) {
                            break;
                        }
                        for (from, to) in some {
                            black_box(graph.leads(*from, *to));
                        }
                        asked += some.len();
                    }
                    let took = clock::now().saturating_duration_since(began);
                    asked as f64 / took.as_secs_f64()
                })
            })
            .collect();
        match mover {
            None => thread::sleep(time),
            Some(mover) => {
                let pause = Duration::from_secs(1) / UPDATES;
                let began = clock::now();
                while clock::now().saturating_duration_since(began) < time {
                    mover.step();
                    thread::sleep(pause);
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        let rates = askers.into_iter().map(thread::ScopedJoinHandle::join);
        let rates: std::result::Result<Vec<f64>, _> = rates.collect();
        let rates = rates.map_err(|_| Failure::new("a thread that asks broke down"))?;
        Ok(rates.iter().sum())
    })
}
