//! Reads the body of a request within its limits: size, time, and memory of all requests together.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::budget::{Budget, SMALL, Share};
use super::error::HttpError;

/// What is read and thrown away after a rejection, so that the client gets to read it.
const DRAIN_BYTES: u64 = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// How much may be reserved at once without much harm.
const GENEROUS: usize = 1 << 20;

/// What a body may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits<'a> {
    /// Its size.
    pub(crate) bytes: u64,
    /// How long it may take to come.
    pub(crate) time: Duration,
    /// Memory of all requests.
    pub(crate) budget: &'a Arc<Budget>,
}

/// The whole body, if it keeps to the limits. Its memory counts as long as a part of it is held.
pub(crate) async fn read(
    mut body: Incoming,
    limits: BodyLimits<'_>,
    expects_continue: bool,
) -> Result<Bytes, HttpError> {
    let BodyLimits {
        bytes: limit,
        time,
        budget,
    } = limits;
    let declared = body.size_hint().lower();
    if declared > limit {
        // A client that waits for `100 Continue` sends nothing after a rejection.
        if !expects_continue {
            drain(body);
        }
        return Err(HttpError::body_too_large(limit));
    }
    let outcome =
        match tokio::time::timeout(time, collect(&mut body, limit, declared, budget.nothing()))
            .await
        {
            Ok(outcome) => outcome,
            Err(_) => return Err(HttpError::too_slow("the body did not arrive in time")),
        };
    if outcome.is_err() {
        drain(body);
    }
    outcome
}

async fn collect(
    body: &mut Incoming,
    limit: u64,
    declared: u64,
    mut share: Share,
) -> Result<Bytes, HttpError> {
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
        if length > SMALL as u64 {
            share.grow(data.len() as u64)?;
        }
        match first.take() {
            None if rest.is_empty() => first = Some(data),
            None => rest.extend_from_slice(&data),
            Some(start) => {
                let whole = usize::try_from(declared.min(limit)).unwrap_or(0);
                let room = if share.is_ample() { GENEROUS } else { 0 };
                rest.reserve(whole.min(room).max(start.len() + data.len()));
                rest.extend_from_slice(&start);
                rest.extend_from_slice(&data);
            }
        }
    }
    if length < declared {
        return Err(broken());
    }
    let whole = first.unwrap_or_else(|| rest.freeze());
    if length <= SMALL as u64 {
        return Ok(whole);
    }
    // What is made of it while it is judged is about as large again.
    share.grow(length)?;
    Ok(share.with(whole))
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
