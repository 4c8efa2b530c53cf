//! Reads decisions from the event stream of the REST API.

use serde_json::Value;

use crate::{Connection, request};

/// An open stream.
#[derive(Debug)]
pub struct Events(Connection);

impl Events {
    /// Opens the stream, with these parameters and headers, and waits for its first sign of life: from then on
    /// everything comes.
    #[track_caller]
    #[must_use]
    pub fn open(mut connection: Connection, query: &str, headers: &[(&str, &str)]) -> Self {
        let path = format!("/api/v1/decisions/stream{query}");
        connection
            .send(&request("GET", &path, headers, b""))
            .unwrap();
        let mut events = Self(connection);
        assert_eq!(events.until("HTTP/1.1 ").trim_end(), "HTTP/1.1 200 OK");
        let kind = events.until("content-type: ");
        assert!(kind.contains("text/event-stream"), "{kind}");
        events.until(": keep-alive");
        events
    }

    /// The next line that begins so.
    #[track_caller]
    pub fn until(&mut self, start: &str) -> String {
        loop {
            let line = self.0.line().expect("nothing more comes");
            assert!(!line.is_empty(), "the stream ended before `{start}`");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// The data of the next event.
    #[track_caller]
    pub fn data(&mut self) -> Value {
        let line = self.until("data: ");
        serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap()
    }

    /// Why the server ends the stream, as it says itself.
    #[track_caller]
    #[must_use]
    pub fn end(mut self) -> String {
        self.until("event: end");
        let data = self.data();
        assert!(data["message"].is_string(), "{data}");
        // The answer is whole.
        self.until("0\r\n");
        data["code"].as_str().unwrap().to_owned()
    }

    /// Whether the server closes the connection.
    #[must_use]
    pub fn is_closed(&mut self) -> bool {
        self.0.rest().is_some()
    }
}
