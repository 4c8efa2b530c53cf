//! The HTTP requests the harness makes itself, to plain listeners on loopback.

use std::io;
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long somebody who may not be there yet is waited for.
const SHORT: Duration = Duration::from_secs(5);

/// A connection that is used for one request after the other: thousands of them take seconds.
#[derive(Debug)]
pub struct Connection {
    port: u16,
    open: Option<portcullis_testing::Connection>,
}

impl Connection {
    /// To this port, when it is needed.
    #[must_use]
    pub fn new(port: u16) -> Self {
        Self { port, open: None }
    }

    /// Another one to the same port.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(self.port)
    }

    /// Posts a document; the status and document of the answer.
    ///
    /// # Errors
    /// When nobody answers, or with something else than JSON.
    pub fn post(&mut self, path: &str, document: &Value) -> io::Result<(u16, Value)> {
        // A connection that was not used for a while may be closed.
        self.exchange(path, document)
            .or_else(|_| self.exchange(path, document))
    }

    /// Keeps the connection only if it is still good.
    fn exchange(&mut self, path: &str, document: &Value) -> io::Result<(u16, Value)> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => portcullis_testing::Connection::tcp(self.port)?,
        };
        open.patience(PATIENCE);
        let answer = open.post(path, document)?;
        let document = serde_json::from_slice(&answer.body)?;
        self.open = Some(open);
        Ok((answer.status, document))
    }
}

/// Status and body of `GET path` from a plain listener on loopback, or `None`
/// when nobody answers.
pub(crate) fn get(port: u16, path: &str) -> Option<(u16, String)> {
    let mut open = portcullis_testing::Connection::tcp(port).ok()?;
    open.patience(SHORT);
    let answer = open.ask("GET", path, b"").ok()?;
    Some((answer.status, answer.text()))
}
