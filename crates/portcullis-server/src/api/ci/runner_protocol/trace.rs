//! Pieces of traces.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_RANGE, HeaderValue, RANGE};
use portcullis_ci::TraceOutcome;
use portcullis_jobs::JobStatus;

use super::{JOB_TOKEN, not_running, token_in_header, unknown_job, with_status};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::http::Response;
use crate::http::error::HttpError;

/// The largest piece: runners send 1 MiB at most.
const MOST_BYTES: u64 = 4 << 20;

/// `PATCH /api/v4/jobs/{id}/trace`
pub(super) fn append(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let id = call.number(unknown_job)?;
        let jobs = call.jobs().await?;
        let token = token_in_header(&call, JOB_TOKEN).ok_or_else(unknown_job)?;
        let running = match jobs.running_job(id, &token).await {
            Ok(running) => running,
            Err(error) => return not_running(error),
        };
        let start = first_byte(&call)?;
        let content: Bytes = call.take_raw(MOST_BYTES).await?;
        match jobs.append_trace(running, start, content).await {
            Ok(TraceOutcome::Appended(size)) => {
                let mut response = answer::nothing();
                *response.status_mut() = StatusCode::ACCEPTED;
                with_range(response, size)
            }
            Ok(TraceOutcome::Misplaced(size)) => {
                let message = format!("the trace has {size} bytes");
                let status = StatusCode::RANGE_NOT_SATISFIABLE;
                let error = HttpError::new(status, "range_mismatch", message);
                with_range(error.into_response(), size)
            }
            Err(error) => not_running(error),
        }
    })
}

/// Where a piece begins: `Content-Range` is `FIRST-LAST`. Where it ends is seen from the piece.
fn first_byte(call: &Call<'_>) -> Result<u64, HttpError> {
    let header = call.head.headers.get(CONTENT_RANGE);
    let text = header.and_then(|value| value.to_str().ok());
    let text = text.map(|text| text.strip_prefix("bytes ").unwrap_or(text));
    let first = text.and_then(|text| text.split_once('-'));
    let first = first.and_then(|(first, _)| first.trim().parse().ok());
    first.ok_or_else(|| {
        HttpError::bad_request(
            "invalid Content-Range: expected the first and the last byte, like 0-99",
        )
    })
}

/// Where the next piece begins: the number after the dash, as GitLab has it.
fn with_range(mut response: Response, size: u64) -> Result<Response, HttpError> {
    let range = HeaderValue::try_from(format!("0-{size}"));
    let range = range.map_err(|_| HttpError::internal())?;
    response.headers_mut().insert(RANGE, range);
    Ok(with_status(response, JobStatus::Running))
}
