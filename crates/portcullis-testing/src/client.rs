//! A client of Portcullis, wherever that runs: each call is made on a connection of its own.

use std::io;

use serde_json::Value;

use crate::connection::{exchange, request};
use crate::{Answer, Connection, Metrics, Review, Verdict};

/// Asks a server over connections that a function opens.
pub struct Client(Box<dyn Fn() -> io::Result<Connection> + Send + Sync>);

impl Client {
    /// A client that connects so.
    pub fn new(connect: impl Fn() -> io::Result<Connection> + Send + Sync + 'static) -> Self {
        Self(Box::new(connect))
    }

    /// A client over plain TCP, on loopback.
    #[must_use]
    pub fn tcp(port: u16) -> Self {
        Self::new(move || Connection::tcp(port))
    }

    /// A new connection.
    #[track_caller]
    #[must_use]
    pub fn connect(&self) -> Connection {
        (self.0)().expect("no connection")
    }

    /// Whether it is ready to be asked.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let connection = (self.0)();
        connection
            .and_then(|mut c| c.ask("GET", "/readyz", b""))
            .is_ok_and(|answer| answer.status == 200)
    }

    /// Sends bytes as they are, and returns the answer if there is one. A server may answer before it
    /// has everything.
    #[must_use]
    pub fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        exchange(self.connect(), bytes, false)
    }

    /// The same, and nothing more will come.
    #[must_use]
    pub fn raw_then_close(&self, bytes: &[u8]) -> Option<Answer> {
        exchange(self.connect(), bytes, true)
    }

    /// Reads something.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.connect().ask("GET", path, b"").expect("no answer")
    }

    /// Posts JSON.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_bytes(path, body.to_string().as_bytes())
    }

    /// Posts any bytes.
    #[track_caller]
    pub fn post_bytes(&self, path: &str, body: &[u8]) -> Answer {
        let answer = self.raw(&request("POST", path, &[], body));
        answer.expect("the connection was dropped")
    }

    /// The verdict on a review.
    #[track_caller]
    pub fn ask(&self, path: &str, review: &Review) -> Verdict {
        Verdict::of(&self.post(path, &review.value()), review)
    }

    /// The verdict on the creation of an object, which it may not change.
    #[track_caller]
    pub fn validate(&self, object: &Value) -> Verdict {
        self.ask("/validate", &Review::create(object))
    }

    /// The verdict on the creation of an object, which it may change.
    #[track_caller]
    pub fn mutate(&self, object: &Value) -> Verdict {
        self.ask("/mutate", &Review::create(object))
    }

    /// The status of an access review.
    #[track_caller]
    pub fn access(&self, path: &str, review: &Value) -> Value {
        let answer = self.post(path, review);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = answer.json();
        assert_eq!(answer["apiVersion"], review["apiVersion"]);
        assert_eq!(answer["kind"], "SubjectAccessReview");
        let status = answer["status"].clone();
        assert!(status["allowed"].is_boolean(), "{status}");
        assert!(
            status["allowed"] != true || status["denied"] != true,
            "{status}"
        );
        status
    }

    /// What it counts.
    #[track_caller]
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let answer = self.get("/metrics");
        assert_eq!(answer.status, 200);
        Metrics::parse(&answer.text())
    }

    /// Asserts that it still judges.
    #[track_caller]
    pub fn judges(&self) {
        self.validate(&crate::pod());
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
