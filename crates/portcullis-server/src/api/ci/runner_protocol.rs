//! GitLab's runner protocol, as runners of versions 14 to 19 speak it.
//!
//! Runners have tokens of their own and no permissions: a runner token asks for jobs, and the token of a job reports
//! on this job alone. 403 is for wrong tokens only: a runner that gets three of them pauses for an hour.

pub(super) mod artifacts;
mod multipart;
pub(super) mod registration;
pub(super) mod reports;
mod trace;

use hyper::header::{HeaderName, HeaderValue};
use portcullis_ci::{CiError, Service};
use portcullis_jobs::{JobStatus, Runner};
use serde_json::Value;

use super::OTHER;
use crate::api::call::Call;
use crate::http::Response;
use crate::http::error::HttpError;

const JOB_TOKEN: &str = "job-token";
const RUNNER_TOKEN: &str = "runner-token";
/// The state of a job, in answers to its runner: one that is no longer `running` is to be stopped.
const JOB_STATUS: HeaderName = HeaderName::from_static("job-status");
/// Seconds between two pieces of a trace.
const TRACE_INTERVAL: (HeaderName, HeaderValue) = (
    HeaderName::from_static("x-gitlab-trace-update-interval"),
    HeaderValue::from_static("5"),
);

const BAD_RUNNER_TOKEN: (u16, &str) = (403, "The runner token is not valid.");
const BAD_JOB_TOKEN: (u16, &str) = (
    403,
    "The job token is not valid, or the job is not running any more: then the header `Job-Status` says what it is.",
);

/// A token in a header.
fn token_in_header(call: &Call<'_>, name: &str) -> Option<String> {
    let value = call.head.headers.get(name)?.to_str().ok()?;
    (!value.is_empty()).then(|| value.to_owned())
}

/// The runner whose token a header or the body has, and the body.
async fn of_runner(call: &mut Call<'_>) -> Result<(Service, Runner, String, Value), HttpError> {
    let jobs = call.jobs().await?;
    let body = call.take_object(OTHER).await?;
    let in_body = body.get("token").and_then(Value::as_str).map(str::to_owned);
    let given = token_in_header(call, RUNNER_TOKEN).or(in_body);
    let token = given.ok_or_else(unknown_runner)?;
    let found = jobs.verify_runner(&token).await?;
    Ok((jobs, found.ok_or_else(unknown_runner)?, token, body))
}

/// What is said of a token of no runner, as GitLab says it.
fn unknown_runner() -> HttpError {
    HttpError::forbidden("forbidden", "the runner token is not valid")
}

/// A path that names no job gets the answer of a wrong token.
fn unknown_job() -> HttpError {
    CiError::JobToken(None).into()
}

/// The answer to a runner that may not report on a job. One that has the right token learns how the job is.
fn not_running(error: CiError) -> Result<Response, HttpError> {
    match error {
        CiError::JobToken(Some(status)) => {
            let response = HttpError::from(CiError::JobToken(Some(status))).into_response();
            Ok(with_status(response, status))
        }
        other => Err(other.into()),
    }
}

fn with_status(mut response: Response, status: JobStatus) -> Response {
    let headers = response.headers_mut();
    let (name, value) = TRACE_INTERVAL;
    headers.insert(name, value);
    headers.insert(JOB_STATUS, HeaderValue::from_static(status.as_str()));
    response
}
