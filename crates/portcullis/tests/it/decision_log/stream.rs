//! Decisions as they come.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::{creation, gate};
use crate::harness::{Gate, PATIENCE};

/// An open stream.
struct Events(BufReader<UnixStream>);

impl Events {
    fn open(gate: &Gate, query: &str) -> Self {
        let mut stream = UnixStream::connect(gate.folder.path("api.sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!("GET /api/v1/decisions/stream{query} HTTP/1.1\r\nhost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut events = Self(BufReader::new(stream));
        let head = events.until(str::is_empty);
        assert!(head.contains("200 OK"), "{head}");
        assert!(head.contains("text/event-stream"), "{head}");
        // The first sign of life says that everything from now on will come.
        events.until(|line| line.starts_with(": keep-alive"));
        events
    }

    fn until(&mut self, is_last: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).unwrap();
            assert!(read > 0, "the stream ended: {text}");
            text.push_str(&line);
            if is_last(line.trim_end()) {
                return text;
            }
        }
    }

    /// The next decision.
    fn next(&mut self) -> Value {
        let text = self.until(|line| line.starts_with("data: "));
        let data = text.lines().last().unwrap().strip_prefix("data: ").unwrap();
        serde_json::from_str(data).unwrap()
    }

    fn is_at_end(&mut self) -> bool {
        let mut rest = String::new();
        loop {
            match self.0.read_line(&mut rest) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

#[test]
fn a_stream_tells_decisions_as_they_come() {
    let gate = gate(&json!({}));
    gate.ask("/validate", &creation("before", "alice"))
        .allowed();
    super::items(&gate, "");
    let mut all = Events::open(&gate, "");
    let mut of_bob = Events::open(&gate, "?user=bob");
    for (name, user) in [("a", "alice"), ("b", "bob"), ("c", "alice")] {
        gate.ask("/validate", &creation(name, user)).allowed();
    }
    let mut names: Vec<String> = Vec::new();
    while names.len() < 3 {
        let name = all.next()["name"].as_str().unwrap().to_owned();
        names.extend(Some(name).filter(|name| name != "before"));
    }
    // Those that were stored at different times may have been overtaken.
    names.sort();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(of_bob.next()["name"], "b");
}

#[test]
fn a_stream_ends_with_the_server() {
    let mut gate = gate(&json!({}));
    let mut events = Events::open(&gate, "");
    gate.terminate();
    assert!(events.is_at_end());
    assert!(gate.wait().success());
}
