//! Server-sent events, read one after the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use portcullis_net::Pieces;
use tokio::runtime::Runtime;

use super::ClientError;

/// The most bytes of one event.
const LARGEST: usize = 4 << 20;
/// A server says something now and then; one that doesn't for so long is gone.
pub(super) const SILENCE: Duration = Duration::from_secs(120);

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// What kind of event; empty for the usual kind.
    pub(crate) kind: String,
    /// What it says.
    pub(crate) data: String,
}

/// A stream of events.
#[derive(Debug)]
pub(crate) struct Events {
    runtime: Arc<Runtime>,
    place: String,
    pieces: Pieces,
    parser: Parser,
}

impl Events {
    pub(super) fn new(runtime: Arc<Runtime>, place: &str, pieces: Pieces) -> Self {
        Self {
            runtime,
            place: place.to_owned(),
            pieces,
            parser: Parser::default(),
        }
    }

    /// Waits for the next event; none when the server ended the stream.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(event) = self.parser.ready.pop_front() {
                return Ok(Some(event));
            }
            let next = self.runtime.block_on(self.pieces.next(SILENCE));
            let Some(bytes) = next.map_err(|error| ClientError::of(&self.place, &error))? else {
                return Ok(None);
            };
            let taken = self.parser.take(&bytes);
            taken.map_err(|wrong| ClientError::Unreachable(format!("{}: {wrong}", self.place)))?;
        }
    }
}

/// Puts bytes together to events.
#[derive(Debug, Default)]
struct Parser {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    ready: VecDeque<Event>,
    after_return: bool,
}

impl Parser {
    /// Lines end with `\n`, `\r\n` or `\r`.
    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    self.end_line()?;
                }
                _ => {
                    if self.line.len() >= LARGEST {
                        return Err(too_large());
                    }
                    self.line.push(byte);
                }
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                self.ready.push_back(event);
            }
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.kind),
            "data" => {
                if self.event.data.len() + value.len() >= LARGEST {
                    return Err(too_large());
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments, ids and unknown fields.
            _ => {}
        }
        Ok(())
    }
}

fn too_large() -> String {
    format!("an event has more than {LARGEST} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_however_they_are_cut() {
        let text = ": hello\n\nevent: decision\nid: 1\ndata: {\"a\":\ndata: 1}\n\n\
                    event: none\n\ndata:x\r\n\r\ndata: y\r\rretry: 5\nid\n\ndata: lost";
        let event = |kind: &str, data: &str| Event {
            kind: kind.to_owned(),
            data: data.to_owned(),
        };
        for size in [1, 2, 3, 7, 1000] {
            let mut parser = Parser::default();
            for piece in text.as_bytes().chunks(size) {
                parser.take(piece).unwrap();
            }
            let wanted = [
                event("decision", "{\"a\":\n1}"),
                event("", "x"),
                event("", "y"),
            ];
            assert_eq!(parser.ready, wanted, "in pieces of {size}");
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = Parser::default();
        assert!(parser.take(&vec![b'a'; LARGEST]).is_ok());
        assert!(parser.take(b"a").is_err());
        let mut parser = Parser::default();
        let line = format!("data: {}\n", "a".repeat(LARGEST / 4));
        let refused = (0..5).any(|_| parser.take(line.as_bytes()).is_err());
        assert!(refused);
    }
}
