//! What a connection is doing, to distinguish clients that stop halfway from those that
//! merely keep a connection open.
//!
//! A connection waits for its first request as long as for the rest of one that has begun; between
//! requests it may be idle longer. Answers have a time limit of their own. [`Tracked`] notices the first byte
//! of a request, the service notes its begin and end, answers when they are made and when their last
//! byte is sent. Timers are left to the connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::prelude::Prefix;

/// What a connection is doing, shared by its parts.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    /// Milliseconds after `began` at which the present request's first byte came, plus one; zero
    /// while at rest.
    head_since: AtomicU64,
    /// Milliseconds after `began` of the last end of a request.
    rest_since: AtomicU64,
    /// Requests being answered.
    busy: AtomicUsize,
    /// An answer is made and not yet written.
    answer_due: AtomicBool,
    /// The next answer is the last one.
    is_retiring: AtomicBool,
    unwritten: Mutex<Unwritten>,
}

/// Answers that the client has not taken yet.
#[derive(Debug)]
struct Unwritten {
    /// How long the client may take for one.
    time: Duration,
    next: u64,
    /// Each with the time, in milliseconds after the connection began, at which it must be gone; none
    /// while there is nothing to take.
    answers: Vec<(u64, Option<u64>)>,
}

/// Bytes that a client must take in a millisecond, so that large answers have more time.
const BYTES_PER_MILLI: usize = 256;

/// Why a connection should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The head of a request takes too long.
    Head,
    /// No request for too long.
    Rest,
    /// An answer is not taken.
    Write,
}

impl Activity {
    /// A new connection, whose client may take this long for an answer.
    pub(crate) fn new(write_time: Duration) -> Arc<Self> {
        Arc::new(Self {
            began: clock::monotonic(),
            head_since: AtomicU64::new(1),
            rest_since: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            answer_due: AtomicBool::new(false),
            is_retiring: AtomicBool::new(false),
            unwritten: Mutex::new(Unwritten {
                time: write_time,
                next: 0,
                answers: Vec::new(),
            }),
        })
    }

    /// The next answer shall be the last one.
    pub(crate) fn retire(&self) {
        self.is_retiring.store(true, Ordering::Relaxed);
    }

    /// Whether the next answer is the last one.
    pub(crate) fn is_retiring(&self) -> bool {
        self.is_retiring.load(Ordering::Relaxed)
    }

    /// An answer of this length is made: its time runs. Returns what it is called from now on.
    pub(crate) fn answer_made(&self, length: usize) -> u64 {
        let now = self.millis(clock::monotonic());
        let mut unwritten = self.unwritten();
        let id = unwritten.next;
        unwritten.next += 1;
        let due = unwritten.due(now, length);
        unwritten.answers.push((id, Some(due)));
        id
    }

    /// A piece of an answer was handed over: the time limit starts again.
    pub(crate) fn answer_goes_on(&self, id: u64) {
        let now = self.millis(clock::monotonic());
        let mut unwritten = self.unwritten();
        let due = unwritten.due(now, 0);
        unwritten.set(id, Some(due));
    }

    /// There is nothing more to take of an answer for now.
    pub(crate) fn answer_rests(&self, id: u64) {
        self.unwritten().set(id, None);
    }

    /// The last byte of an answer is gone.
    pub(crate) fn answer_taken(&self, id: u64) {
        self.unwritten().answers.retain(|(own, _)| *own != id);
    }

    fn unwritten(&self) -> MutexGuard<'_, Unwritten> {
        self.unwritten.lock()
    }

    /// A request is whole enough to be answered.
    pub(crate) fn request_began(&self) {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.head_since.store(0, Ordering::Relaxed);
    }

    /// The answer is on its way.
    pub(crate) fn request_ended(&self) {
        self.answer_due.store(true, Ordering::Relaxed);
        self.rest_since
            .store(self.millis(clock::monotonic()), Ordering::Relaxed);
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a request has ever begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.head_since.load(Ordering::Relaxed) == 0 || self.rest_since.load(Ordering::Relaxed) > 0
    }

    /// Everything that was made to be written is written.
    fn written(&self) {
        if self.busy.load(Ordering::Relaxed) == 0 {
            self.answer_due.store(false, Ordering::Relaxed);
        }
    }

    /// Whether what is about to be written answers no request.
    fn is_unasked(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0 && !self.answer_due.load(Ordering::Relaxed)
    }

    fn bytes_came(&self) {
        if self.busy.load(Ordering::Relaxed) == 0 && self.head_since.load(Ordering::Relaxed) == 0 {
            self.head_since
                .store(self.millis(clock::monotonic()) + 1, Ordering::Relaxed);
        }
    }

    pub(crate) fn overdue(&self, now: Instant, head: Duration, rest: Duration) -> Option<Overdue> {
        if self.unwritten().is_overdue(self.millis(now)) {
            return Some(Overdue::Write);
        }
        if self.busy.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let since = |millis: u64| Duration::from_millis(self.millis(now).saturating_sub(millis));
        match self.head_since.load(Ordering::Relaxed) {
            0 => (since(self.rest_since.load(Ordering::Relaxed)) >= rest).then_some(Overdue::Rest),
            millis => (since(millis - 1) >= head).then_some(Overdue::Head),
        }
    }

    fn millis(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX - 1)
    }
}

impl Unwritten {
    fn due(&self, now: u64, length: usize) -> u64 {
        let time = u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX);
        let more = u64::try_from(length / BYTES_PER_MILLI).unwrap_or(u64::MAX);
        now.saturating_add(time).saturating_add(more)
    }

    fn set(&mut self, id: u64, due: Option<u64>) {
        if let Some((_, own)) = self.answers.iter_mut().find(|(own, _)| *own == id) {
            *own = due;
        }
    }

    fn is_overdue(&self, now: u64) -> bool {
        let mut dues = self.answers.iter().filter_map(|(_, due)| *due);
        dues.any(|due| due <= now)
    }
}

/// A stream that notes when bytes come, with bytes in front that were read ahead.
///
/// It also holds back what the HTTP library answers by itself to a request it can't read, an empty
/// body with a status, so that the connection can answer in the one shape of errors instead.
#[derive(Debug)]
pub(crate) struct Tracked<S> {
    prefix: Prefix,
    stream: S,
    activity: Arc<Activity>,
    holds_back: bool,
    held_back: Vec<u8>,
}

impl<S> Tracked<S> {
    pub(crate) fn new(stream: S, prefix: Prefix, activity: Arc<Activity>) -> Self {
        let held_back = Vec::new();
        Self {
            prefix,
            stream,
            activity,
            holds_back: false,
            held_back,
        }
    }

    /// The same, holding back unsolicited answers. For HTTP/1.1 only.
    pub(crate) fn holding_back(mut self) -> Self {
        self.holds_back = true;
        self
    }

    /// The stream, and the status of the answer that was held back, if one was.
    pub(crate) fn into_inner(self) -> (S, Option<u16>) {
        let status = self.held_back.split(|b| *b == b' ').nth(1);
        let status = status.and_then(|s| std::str::from_utf8(s).ok()?.parse().ok());
        (self.stream, status)
    }

    /// Takes unsolicited bytes; false if they answer a request.
    fn hold_back(&mut self, bytes: &[u8]) -> bool {
        let is_held = self.holds_back && self.activity.is_unasked();
        if is_held && self.held_back.len() < 64 {
            self.held_back.extend_from_slice(bytes);
        }
        is_held
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tracked<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.prefix.give(buffer) {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.activity.bytes_came();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tracked<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.hold_back(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if parts.iter().all(|part| self.hold_back(part)) {
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_ready() {
            self.activity.written();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Duration = Duration::from_secs(10);
    const REST: Duration = Duration::from_secs(120);
    const WRITE: Duration = Duration::from_secs(30);

    #[test]
    fn an_answer_must_be_taken_in_its_time() {
        let activity = Activity::new(WRITE);
        let after = |seconds| activity.began + Duration::from_secs(seconds);
        activity.request_began();
        let late = |seconds| activity.overdue(after(seconds), HEAD, REST) == Some(Overdue::Write);
        let (small, large) = (activity.answer_made(10), activity.answer_made(16 << 20));
        assert!(!late(29) && late(31));
        activity.answer_taken(small);
        assert!(!late(60) && late(120));
        activity.answer_taken(large);
        assert!(!late(1000));
        let stream = activity.answer_made(0);
        activity.answer_rests(stream);
        assert!(!late(1000));
        activity.answer_goes_on(stream);
        assert!(late(1000));
    }

    #[test]
    fn a_head_may_take_less_time_than_a_rest() {
        let activity = Activity::new(WRITE);
        let after = |seconds| activity.began + Duration::from_secs(seconds);
        assert_eq!(activity.overdue(after(9), HEAD, REST), None);
        assert_eq!(activity.overdue(after(11), HEAD, REST), Some(Overdue::Head));
        activity.request_began();
        assert_eq!(activity.overdue(after(1000), HEAD, REST), None);
        activity.request_ended();
        assert_eq!(activity.overdue(after(100), HEAD, REST), None);
        assert_eq!(
            activity.overdue(after(130), HEAD, REST),
            Some(Overdue::Rest)
        );
        activity.bytes_came();
        assert_eq!(
            activity.overdue(after(100), HEAD, REST),
            Some(Overdue::Head)
        );
    }
}
