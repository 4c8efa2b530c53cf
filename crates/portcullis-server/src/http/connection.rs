//! One connection: HTTP/1.1 or HTTP/2, within its time limits, until either side closes it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Version;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use portcullis_core::clock;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::activity::{Activity, Overdue, Tracked};
use super::error::HttpError;
use super::handler::Client;
use super::linger::linger;
use super::prelude::Prefix;
use super::setup::ConnectionLimits;
use super::trust::{Phase, Trust};

/// How often time limits are looked at.
const TICK: Duration = Duration::from_secs(1);
/// How long to wait for the client to take the last answer.
const LINGER: Duration = Duration::from_secs(2);
/// The same while the server ends.
const LINGER_AT_END: Duration = Duration::from_millis(200);
/// Requests at once on one HTTP/2 connection.
const STREAMS: u32 = 128;
/// What an HTTP/2 client may send before it is read, in one request and in all of them.
const WINDOW: u32 = 1 << 20;
/// What is handed over of an answer in HTTP/2 before the client takes it.
const SEND_BUFFER: usize = 64 << 10;
/// What a request's head may take beyond the limit and still be rejected with a reason.
const HEAD_SLACK: usize = 64 << 10;

/// Answers requests for one connection, and keeps its [`Activity`].
pub(crate) struct Answering<C> {
    client: Arc<C>,
    activity: Arc<Activity>,
}

impl<C: Client> Service<hyper::Request<Incoming>> for Answering<C> {
    type Response = super::Response;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<super::Response, Self::Error>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let (client, activity) = (Arc::clone(&self.client), Arc::clone(&self.activity));
        Box::pin(async move {
            activity.request_began();
            let version = request.version();
            let answered = client.answer(request).await;
            if answered.is_last {
                activity.retire();
            }
            let share = answered.share;
            let mut response = answered
                .response
                .map(|answer| answer.send(&activity, share));
            if activity.is_retiring() && version < Version::HTTP_2 {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok(response)
        })
    }
}

/// A connection's two ends and what ties them together.
fn tracked<S, C>(
    stream: S,
    prefix: Prefix,
    client: C,
    limits: &ConnectionLimits,
) -> (Tracked<S>, Answering<C>, Arc<Activity>) {
    let activity = Activity::new(limits.write_time);
    let stream = Tracked::new(stream, prefix, Arc::clone(&activity));
    let answering = Answering {
        client: Arc::new(client),
        activity: Arc::clone(&activity),
    };
    (stream, answering, activity)
}

/// What a listener wants of a connection that began with this trust.
struct Wanted {
    phase: watch::Receiver<Phase>,
    own: Trust,
}

impl Wanted {
    /// Whether the connection shall end after what is under way.
    fn is_over(&mut self) -> bool {
        *self.phase.borrow_and_update() != Phase::Open(self.own)
    }

    /// Waits until it is over.
    async fn over(&mut self) {
        let own = self.own;
        // An error means that the listener is gone.
        let _ = self
            .phase
            .wait_for(|phase| *phase != Phase::Open(own))
            .await;
    }
}

/// Serves HTTP/1.1 until the connection ends.
pub(crate) async fn serve_http1<S: AsyncRead + AsyncWrite + Unpin, C: Client>(
    stream: S,
    prefix: Prefix,
    client: C,
    limits: ConnectionLimits,
    phase: watch::Receiver<Phase>,
) {
    let own = client.trust();
    let mut wanted = Wanted { phase, own };
    let (stream, answering, activity) = tracked(stream, prefix, client, &limits);
    let io = TokioIo::new(stream.holding_back());
    let mut connection = http1::Builder::new()
        .half_close(true)
        .max_buf_size(limits.headers * 2 + HEAD_SLACK)
        .header_read_timeout(None)
        .timer(TokioTimer::new())
        .serve_connection(io, answering);
    let mut ticks = ticks();
    let retires_at = limits.retires_at();
    let mut is_ending = wanted.is_over();
    let mut overdue = None;
    if is_ending {
        Pin::new(&mut connection).graceful_shutdown();
    }
    loop {
        tokio::select! {
            _ = std::future::poll_fn(|cx| connection.poll_without_shutdown(cx)) => break,
            () = wanted.over(), if !is_ending => {
                is_ending = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            _ = ticks.tick() => {
                let now = clock::monotonic();
                overdue = activity.overdue(now, limits.head_time, limits.rest_time);
                if overdue.is_some() {
                    break;
                }
                if retires_at.is_some_and(|at| at <= now) {
                    activity.retire();
                }
            }
        }
    }
    if overdue == Some(Overdue::Write) {
        // A client that doesn't read gets nothing more to read.
        return;
    }
    let (mut stream, refused) = connection.into_parts().io.into_inner().into_inner();
    let answer = match refused {
        _ if overdue == Some(Overdue::Head) => Some(HttpError::too_slow(
            "the request headers did not arrive in time",
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
pub(crate) async fn serve_http2<S: AsyncRead + AsyncWrite + Unpin + Send + 'static, C: Client>(
    stream: S,
    prefix: Prefix,
    client: C,
    limits: ConnectionLimits,
    phase: watch::Receiver<Phase>,
) {
    let own = client.trust();
    let mut wanted = Wanted { phase, own };
    let (stream, answering, activity) = tracked(stream, prefix, client, &limits);
    let io = TokioIo::new(stream);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_header_list_size(u32::try_from(limits.headers * 2).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.rest_time / 2)
        .keep_alive_timeout(limits.head_time)
        .serve_connection(io, answering);
    let mut connection = std::pin::pin!(connection);
    let mut ticks = ticks();
    let retires_at = limits.retires_at();
    let mut is_ending = wanted.is_over();
    if is_ending {
        connection.as_mut().graceful_shutdown();
    }
    loop {
        tokio::select! {
            _ = connection.as_mut() => break,
            () = wanted.over(), if !is_ending => {
                is_ending = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = ticks.tick() => {
                let now = clock::monotonic();
                // Once requests came, frames in between don't mean that a new one begins.
                let head_time = if activity.has_begun() { limits.rest_time } else { limits.head_time };
                let is_old = retires_at.is_some_and(|at| at <= now) || activity.is_retiring();
                match activity.overdue(now, head_time, limits.rest_time) {
                    Some(Overdue::Write) => break,
                    Some(_) if is_ending || !activity.has_begun() => break,
                    None if is_ending || !is_old => {}
                    _ => {
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
