//! One connection: HTTP/1.1 or HTTP/2, within its time limits, until either side has enough.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use portcullis_core::clock;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::activity::{Activity, Overdue, Tracked};
use super::error::HttpError;
use super::linger::linger;
use super::prelude::Prefix;
use crate::routes::Visitor;

/// How often time limits are looked at.
const TICK: Duration = Duration::from_secs(1);
/// How long to wait for the client to take the last answer.
const LINGER: Duration = Duration::from_secs(2);
/// The same while the server ends.
const LINGER_AT_END: Duration = Duration::from_millis(200);
/// Requests at once on one HTTP/2 connection.
const STREAMS: u32 = 128;
/// What a request's head may take beyond the limit and still be refused with a reason.
const HEAD_SLACK: usize = 64 << 10;

/// Limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    pub(crate) headers: usize,
    pub(crate) head_time: Duration,
    pub(crate) rest_time: Duration,
}

/// Answers requests for one connection, and keeps its [`Activity`].
pub(crate) struct Answering {
    visitor: Arc<Visitor>,
    activity: Arc<Activity>,
}

impl Service<hyper::Request<Incoming>> for Answering {
    type Response = super::Response;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<super::Response, Self::Error>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let (visitor, activity) = (Arc::clone(&self.visitor), Arc::clone(&self.activity));
        Box::pin(async move {
            activity.request_began();
            let mut response = visitor.answer(request).await;
            response.body_mut().ends(activity);
            Ok(response)
        })
    }
}

/// A connection's two ends and what ties them together.
fn tracked<S>(
    stream: S,
    prefix: Prefix,
    visitor: Visitor,
) -> (Tracked<S>, Answering, Arc<Activity>) {
    let activity = Activity::new();
    let stream = Tracked::new(stream, prefix, Arc::clone(&activity));
    let visitor = Arc::new(visitor);
    let answering = Answering {
        visitor,
        activity: Arc::clone(&activity),
    };
    (stream, answering, activity)
}

/// Serves HTTP/1.1 until the connection ends.
pub(crate) async fn serve_http1<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    prefix: Prefix,
    visitor: Visitor,
    limits: ConnectionLimits,
    mut ending: watch::Receiver<bool>,
) {
    let (stream, answering, activity) = tracked(stream, prefix, visitor);
    let io = TokioIo::new(stream.holding_back());
    let mut connection = http1::Builder::new()
        .half_close(true)
        .max_buf_size(limits.headers * 2 + HEAD_SLACK)
        .header_read_timeout(None)
        .timer(TokioTimer::new())
        .serve_connection(io, answering);
    let mut ticks = ticks();
    let mut is_ending = *ending.borrow_and_update();
    let mut is_too_slow = false;
    if is_ending {
        Pin::new(&mut connection).graceful_shutdown();
    }
    loop {
        tokio::select! {
            _ = std::future::poll_fn(|cx| connection.poll_without_shutdown(cx)) => break,
            changed = ending.changed(), if !is_ending => {
                is_ending = changed.is_err() || *ending.borrow();
                if is_ending {
                    Pin::new(&mut connection).graceful_shutdown();
                }
            }
            _ = ticks.tick() => {
                match activity.overdue(clock::monotonic(), limits.head_time, limits.rest_time) {
                    None => {}
                    Some(Overdue::Head) => {
                        is_too_slow = true;
                        break;
                    }
                    Some(Overdue::Rest) => break,
                }
            }
        }
    }
    let (mut stream, refused) = connection.into_parts().io.into_inner().into_inner();
    let answer = match refused {
        _ if is_too_slow => Some(HttpError::too_slow(
            "the request's head did not come in time",
        )),
        Some(status) => Some(HttpError::unreadable(status, limits.headers)),
        None => None,
    };
    if let Some(answer) = answer {
        let _ = tokio::time::timeout(LINGER, stream.write_all(&answer.into_bytes())).await;
    }
    linger(stream, if is_ending { LINGER_AT_END } else { LINGER }).await;
}

/// Serves HTTP/2 until the connection ends.
pub(crate) async fn serve_http2<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    prefix: Prefix,
    visitor: Visitor,
    limits: ConnectionLimits,
    mut ending: watch::Receiver<bool>,
) {
    let (stream, answering, activity) = tracked(stream, prefix, visitor);
    let io = TokioIo::new(stream);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(limits.headers * 2).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.rest_time / 2)
        .keep_alive_timeout(limits.head_time)
        .serve_connection(io, answering);
    let mut connection = std::pin::pin!(connection);
    let mut ticks = ticks();
    let mut is_ending = false;
    loop {
        if !is_ending && *ending.borrow_and_update() {
            is_ending = true;
            connection.as_mut().graceful_shutdown();
        }
        tokio::select! {
            _ = connection.as_mut() => break,
            changed = ending.changed(), if !is_ending => {
                if changed.is_err() {
                    is_ending = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
            _ = ticks.tick() => {
                // Once requests came, frames in between are no sign of a new one.
                let head_time = if activity.has_begun() { limits.rest_time } else { limits.head_time };
                match activity.overdue(clock::monotonic(), head_time, limits.rest_time) {
                    None => {}
                    Some(_) if is_ending || !activity.has_begun() => break,
                    Some(_) => {
                        is_ending = true;
                        connection.as_mut().graceful_shutdown();
                    }
                }
            }
        }
    }
}

fn ticks() -> tokio::time::Interval {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    ticks
}
