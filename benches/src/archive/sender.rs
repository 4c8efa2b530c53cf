//! Sends reviews that differ, each connection one after the other, and looks at every answer.

use std::io::Write;
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::failure::{Context, Failure, Result};
use crate::fixture::varied::{Review, Varied};
use crate::http1::Question;
use crate::plain;

/// How long to wait for an answer.
const WAIT: Duration = Duration::from_secs(30);

/// One connection.
pub(crate) struct Sender {
    stream: UnixStream,
    buffer: Vec<u8>,
}

impl Sender {
    /// Connects to this socket.
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context(socket.display())?;
        stream
            .set_read_timeout(Some(WAIT))
            .context("a connection")?;
        let buffer = Vec::new();
        Ok(Self { stream, buffer })
    }

    /// Sends one review; says how many bytes its body has.
    pub(crate) fn send(&mut self, review: &Review) -> Result<usize> {
        let bytes = review.body.len();
        let question = Question {
            method: "POST",
            path: "/mutate?timeout=10s",
            body: review.body.clone(),
        };
        self.stream
            .write_all(&question.to_bytes())
            .context("sending a review")?;
        let answer = plain::answer(&mut self.stream, &mut self.buffer);
        let (status, body) = answer.context("reading an answer")?;
        if review.expected.is_met(status, &body) {
            return Ok(bytes);
        }
        let body: String = String::from_utf8_lossy(&body).chars().take(2_000).collect();
        let expected = review.expected.holds.join(" and ");
        Err(Failure::new(format!(
            "expected 200 with {expected}, got {status} with {body}"
        )))
    }
}

/// Sends the reviews of these numbers over so many connections; says how many bytes their bodies have.
pub(crate) fn send_all(
    socket: &Path,
    reviews: &Varied,
    numbers: Range<usize>,
    connections: usize,
) -> Result<usize> {
    let send_part = |part: usize| -> Result<usize> {
        let mut sender = Sender::connect(socket)?;
        let numbers = numbers.clone().skip(part);
        numbers
            .step_by(connections)
            .map(|number| sender.send(&reviews.review(number)))
            .sum()
    };
    let send_part = &send_part;
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..connections)
            .map(|part| scope.spawn(move || send_part(part)))
            .collect();
        let joined = parts.into_iter().map(|part| {
            let joined = part.join();
            joined.unwrap_or_else(|_| Err(Failure::new("a connection broke")))
        });
        joined.sum()
    })
}
