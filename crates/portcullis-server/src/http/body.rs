//! Reads the body of a request within its limits: size, time, and memory of all bodies together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::error::HttpError;

/// Memory that all bodies under way may take together.
const BUDGET_BYTES: u64 = 512 << 20;

/// What is read and thrown away after a refusal, so that the client gets to read it.
const DRAIN_BYTES: u64 = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(5);

static IN_USE: AtomicU64 = AtomicU64::new(0);

/// The whole body, if it keeps to the limits.
pub(crate) async fn read(
    mut body: Incoming,
    limit: u64,
    time: Duration,
    expects_continue: bool,
) -> Result<Bytes, HttpError> {
    let declared = body.size_hint().lower();
    if declared > limit {
        // Who asked before sending sends nothing after a refusal.
        if !expects_continue {
            drain(body);
        }
        return Err(HttpError::body_too_large(limit));
    }
    let outcome = match tokio::time::timeout(time, collect(&mut body, limit, declared)).await {
        Ok(outcome) => outcome,
        Err(_) => return Err(HttpError::too_slow("the body did not come in time")),
    };
    if outcome.is_err() {
        drain(body);
    }
    outcome
}

async fn collect(body: &mut Incoming, limit: u64, declared: u64) -> Result<Bytes, HttpError> {
    let mut share = Share(0);
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    let mut length = 0_u64;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| broken())?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        length += data.len() as u64;
        if length > limit {
            return Err(HttpError::body_too_large(limit));
        }
        share.grow(data.len() as u64)?;
        match first.take() {
            None if rest.is_empty() => first = Some(data),
            None => rest.extend_from_slice(&data),
            Some(start) => {
                let whole = usize::try_from(declared.min(limit)).unwrap_or(0);
                rest.reserve(whole.min(share.room()).max(start.len() + data.len()));
                rest.extend_from_slice(&start);
                rest.extend_from_slice(&data);
            }
        }
    }
    if length < declared {
        return Err(broken());
    }
    Ok(first.unwrap_or_else(|| rest.freeze()))
}

fn broken() -> HttpError {
    HttpError::malformed(&portcullis_core::json::JsonFault {
        message: "the body ended too early".into(),
        line: 1,
        column: 1,
    })
}

/// Goes on reading in the background, so that the connection stays until the answer is read.
pub(crate) fn drain(mut body: Incoming) {
    tokio::spawn(async move {
        let pass_over = async {
            let mut passed = 0;
            while let Some(Ok(frame)) = body.frame().await {
                passed += frame.data_ref().map_or(0, |data| data.len() as u64);
                if passed > DRAIN_BYTES {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(DRAIN_TIME, pass_over).await;
    });
}

/// What one body takes of the budget.
struct Share(u64);

impl Share {
    fn grow(&mut self, bytes: u64) -> Result<(), HttpError> {
        self.0 += bytes;
        if IN_USE.fetch_add(bytes, Ordering::Relaxed) + bytes > BUDGET_BYTES {
            return Err(HttpError::busy("too many large requests are under way"));
        }
        Ok(())
    }

    /// How much may be reserved at once without much harm.
    fn room(&self) -> usize {
        const GENEROUS: usize = 1 << 20;
        if IN_USE.load(Ordering::Relaxed) > BUDGET_BYTES / 4 {
            0
        } else {
            GENEROUS
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        IN_USE.fetch_sub(self.0, Ordering::Relaxed);
    }
}
