//! Sends submissions over several connections, one under way on each, on one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::case::Submission;
use super::requests;
use crate::asker::Asker;
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::histogram::Histogram;
use crate::http1::Answer;
use crate::transport::{Places, Transport};

/// How long the last answers may take.
const LAST: Duration = Duration::from_secs(60);

/// Connections, and what is sent over them in turns.
pub(super) struct Senders {
    askers: Vec<Asker>,
    requests: Arc<Vec<Vec<u8>>>,
    submission: Submission,
    next: Arc<AtomicUsize>,
}

/// What was sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// How long answers took.
    pub(super) latencies: Histogram,
    /// Jobs that were acknowledged.
    pub(super) ids: Vec<u64>,
}

impl Senders {
    /// So many connections.
    pub(super) async fn connect(
        places: &Places,
        count: usize,
        submission: Submission,
        requests: Vec<Vec<u8>>,
    ) -> Result<Self> {
        let mut askers = Vec::with_capacity(count);
        for _ in 0..count {
            askers.push(Asker::connect(places, Transport::Tcp).await?);
        }
        Ok(Self {
            askers,
            requests: Arc::new(requests),
            submission,
            next: Arc::new(AtomicUsize::new(0)),
        })
    }

    /// Sends for so long.
    pub(super) async fn send(&mut self, seconds: f64) -> Result<Sent> {
        let until = clock::now() + Duration::from_secs_f64(seconds);
        self.send_while(move |_| clock::now() < until).await
    }

    /// Sends so many.
    pub(super) async fn send_count(&mut self, count: usize) -> Result<Sent> {
        let first = self.next.load(Ordering::Relaxed);
        self.send_while(move |turn| turn - first < count).await
    }

    async fn send_while(
        &mut self,
        goes_on: impl Fn(usize) -> bool + Clone + Send + 'static,
    ) -> Result<Sent> {
        let sending: Vec<_> = std::mem::take(&mut self.askers)
            .into_iter()
            .map(|asker| {
                let (requests, next) = (Arc::clone(&self.requests), Arc::clone(&self.next));
                let goes_on = goes_on.clone();
                tokio::spawn(send_on(asker, self.submission, requests, next, goes_on))
            })
            .collect();
        let mut sent = Sent::default();
        for one in sending {
            let (asker, of_asker) = one.await.context("a client broke")??;
            self.askers.push(asker);
            sent.latencies.add(&of_asker.latencies);
            sent.ids.extend(of_asker.ids);
        }
        Ok(sent)
    }
}

async fn send_on(
    mut asker: Asker,
    submission: Submission,
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
    goes_on: impl Fn(usize) -> bool,
) -> Result<(Asker, Sent)> {
    let mut sent = Sent::default();
    loop {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        if !goes_on(turn) {
            return Ok((asker, sent));
        }
        let Some(request) = requests.get(turn % requests.len().max(1)) else {
            return Err(Failure::new("there is nothing to send"));
        };
        let began = clock::now();
        let look = |answer: &Answer<'_>| {
            (answer.status == 201).then(|| requests::ids(submission, &answer.body))
        };
        let asked = tokio::time::timeout(LAST, asker.ask_for(request, look)).await;
        let ids = asked.context("no answer in time")??;
        sent.latencies.record(since(began));
        match ids {
            Ok(ids) => sent.ids.extend(ids),
            Err(wrong) => return Err(Failure::new(format!("expected 201, got {wrong}"))),
        }
    }
}

fn since(began: Instant) -> Duration {
    clock::now().saturating_duration_since(began)
}
