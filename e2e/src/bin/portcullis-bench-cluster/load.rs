//! Clients that create pods, each over a TLS connection of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_e2e::Cluster;
use portcullis_testing::{Connection, request, tls};

use crate::pod;

/// Numbers the pods of a run, so that no name is used twice.
static NAMES: AtomicUsize = AtomicUsize::new(0);

/// What is created, and where.
pub(crate) struct Load<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) namespace: &'a str,
    /// What every answer must hold.
    pub(crate) changed: Option<&'a str>,
    /// How many pods.
    pub(crate) pods: usize,
}

/// What came of it.
pub(crate) struct Outcome {
    /// From the request to the answer, for each pod.
    pub(crate) latencies: Vec<Duration>,
    /// From the first request to the last answer.
    pub(crate) elapsed: Duration,
}

impl Load<'_> {
    /// Creates the pods with that many clients at the same time.
    pub(crate) fn run(&self, clients: usize) -> Outcome {
        let left = AtomicUsize::new(self.pods);
        let connections: Vec<_> = (0..clients).map(|_| self.connect()).collect();
        let start = now();
        let latencies = thread::scope(|scope| {
            let threads: Vec<_> = connections
                .into_iter()
                .map(|connection| {
                    let left = &left;
                    scope.spawn(move || self.create(connection, left))
                })
                .collect();
            let done = threads
                .into_iter()
                .map(|thread| thread.join().expect("a client"));
            done.flatten().collect()
        });
        Outcome {
            latencies,
            elapsed: start.elapsed(),
        }
    }

    /// Connects, and asks once, so that the handshake does not count.
    fn connect(&self) -> Connection {
        let mut connection =
            Connection::tls(self.cluster.port(), &tls::careless()).expect("the API server");
        let answer = self.exchange(&mut connection, "GET", "/readyz", b"");
        assert_eq!(answer.0, 200, "{}", answer.1);
        connection
    }

    fn create(&self, mut connection: Connection, left: &AtomicUsize) -> Vec<Duration> {
        let path = format!("/api/v1/namespaces/{}/pods", self.namespace);
        let mut latencies = Vec::new();
        let take = |left: usize| left.checked_sub(1);
        while left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
        {
            let number = NAMES.fetch_add(1, Ordering::Relaxed);
            let body = pod::body(self.namespace, &format!("checkout-{number}-pod"));
            let start = now();
            let (status, text) = self.exchange(&mut connection, "POST", &path, &body);
            latencies.push(start.elapsed());
            assert_eq!(status, 201, "{text}");
            assert!(
                self.changed.is_none_or(|changed| text.contains(changed)),
                "a pod was not changed: {text}"
            );
        }
        latencies
    }

    fn exchange(
        &self,
        connection: &mut Connection,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> (u16, String) {
        let token = format!("Bearer {}", self.cluster.administrator_token());
        let headers = [
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
        ];
        connection
            .send(&request(method, path, &headers, body))
            .expect("the API server takes requests");
        let answer = connection.receive().expect("the API server answers");
        (answer.status, answer.text())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this program that reads the clock"
)]
fn now() -> Instant {
    Instant::now()
}
