//! What a connection is doing, so that clients who stop halfway can be told apart from those who
//! merely keep a connection open.
//!
//! A connection waits for its first request as long as for the rest of one that has begun; between
//! requests it may rest longer. [`Tracked`] notices the first byte of a request, the service notes
//! its begin and end. Timers are left to the connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use portcullis_core::clock;
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
}

/// Why a connection should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The head of a request takes too long.
    Head,
    /// No request for too long.
    Rest,
}

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: clock::monotonic(),
            head_since: AtomicU64::new(1),
            rest_since: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
        })
    }

    /// A request is whole enough to be answered.
    pub(crate) fn request_began(&self) {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.head_since.store(0, Ordering::Relaxed);
    }

    /// The answer is on its way.
    pub(crate) fn request_ended(&self) {
        self.rest_since
            .store(self.millis(clock::monotonic()), Ordering::Relaxed);
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }

    fn bytes_came(&self) {
        if self.busy.load(Ordering::Relaxed) == 0 && self.head_since.load(Ordering::Relaxed) == 0 {
            self.head_since
                .store(self.millis(clock::monotonic()) + 1, Ordering::Relaxed);
        }
    }

    pub(crate) fn overdue(&self, now: Instant, head: Duration, rest: Duration) -> Option<Overdue> {
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

/// A stream that notes when bytes come, with bytes in front that were read ahead.
#[derive(Debug)]
pub(crate) struct Tracked<S> {
    prefix: Prefix,
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Tracked<S> {
    pub(crate) fn new(stream: S, prefix: Prefix, activity: Arc<Activity>) -> Self {
        Self {
            prefix,
            stream,
            activity,
        }
    }

    pub(crate) fn into_inner(self) -> S {
        self.stream
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
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
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

    #[test]
    fn a_head_may_take_less_time_than_a_rest() {
        let activity = Activity::new();
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
