//! Takes batches out of a queue and sends them, with retries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use portcullis_core::clock;
use portcullis_net::Backoff;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::otlp::{self, Signal};
use crate::queue::Queue;
use crate::transport::{Failure, Transport};

/// The pause before the second attempt; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest pause that a receiver may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(300);

/// How long a batch is tried for; then it is dropped, and the next one has its turn.
const PATIENCE: Duration = Duration::from_secs(300);

/// The attempts that remain when the server ends.
const LAST_ATTEMPTS: u32 = 3;
const LAST_PAUSE: Duration = Duration::from_millis(200);

/// The least time between two complaints in the log.
const SILENCE: Duration = Duration::from_secs(60);

/// Sends one signal.
#[derive(Debug)]
pub(crate) struct Exporter {
    pub(crate) signal: Signal,
    pub(crate) queue: Arc<Queue>,
    pub(crate) transport: Transport,
    pub(crate) resource: Arc<[u8]>,
    pub(crate) complaints: Complaints,
}

impl Exporter {
    /// Sends until the end is announced and everything is sent, or can't be.
    pub(crate) async fn run(mut self, mut ending: watch::Receiver<Option<()>>) {
        while let Some(batch) = self.queue.next(&mut ending).await {
            let request = Bytes::from(otlp::request(&self.resource, &batch));
            let lost = self
                .deliver(&request, batch.len() as u64, &mut ending)
                .await;
            if lost > 0 {
                self.queue.count_dropped(lost);
            }
        }
    }

    /// Sends a batch, and returns how much of it is lost.
    async fn deliver(
        &mut self,
        request: &Bytes,
        count: u64,
        ending: &mut watch::Receiver<Option<()>>,
    ) -> u64 {
        let began = clock::monotonic();
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        let mut last_attempts = 0;
        loop {
            let failure = match self.transport.send(request).await {
                Ok(rejected) => {
                    self.complaints.over(self.signal);
                    return rejected.min(count);
                }
                Err(failure) => failure,
            };
            self.complaints
                .about(self.signal, self.transport.place(), &failure);
            if !failure.may_pass {
                return count;
            }
            let is_ending = ending.borrow_and_update().is_some();
            if is_ending {
                last_attempts += 1;
                if last_attempts >= LAST_ATTEMPTS {
                    return count;
                }
                sleep(LAST_PAUSE).await;
                continue;
            }
            let asked = failure.after.map(|asked| asked.min(LONGEST_ASKED));
            let waited = clock::monotonic().saturating_duration_since(began);
            if waited >= PATIENCE {
                return count;
            }
            let pause = backoff.pause();
            let wait = asked.unwrap_or(pause);
            tokio::select! {
                () = sleep(wait) => {}
                changed = ending.changed() => {
                    if changed.is_err() {
                        return count;
                    }
                }
            }
        }
    }
}

/// What the log says about a receiver: the first failure, and then little.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    last: Option<Instant>,
    /// Whether what is wrong now was said.
    said: bool,
    unsaid: u64,
}

impl Complaints {
    fn about(&mut self, signal: Signal, place: &str, failure: &Failure) {
        let now = clock::monotonic();
        let is_silent = self
            .last
            .is_some_and(|last| now.saturating_duration_since(last) < SILENCE);
        if is_silent {
            self.unsaid += 1;
            return;
        }
        let (signal, problem, unsaid) = (signal.as_str(), &failure.problem, self.unsaid);
        tracing::warn!(signal, place, problem, unsaid, "telemetry export failed");
        *self = Self {
            last: Some(now),
            said: true,
            unsaid: 0,
        };
    }

    fn over(&mut self, signal: Signal) {
        if std::mem::take(&mut self.said) {
            let signal = signal.as_str();
            tracing::info!(signal, "telemetry export recovered");
        }
    }
}
