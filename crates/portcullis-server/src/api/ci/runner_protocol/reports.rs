//! Runners ask for jobs, report on them, and send what they write.

use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use portcullis_ci::{JobReport, JobRequest, ReportOutcome, ReportedState, RunnerContact};
use portcullis_document::read;
use portcullis_jobs::JobStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::trace::append;
use super::{
    BAD_JOB_TOKEN, BAD_RUNNER_TOKEN, JOB_TOKEN, not_running, of_runner, token_in_header,
    unknown_job, with_status,
};
use crate::api::access::{Access, Credential};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::ci::{INVALID, OBJECT, OTHER, Object, object};
use crate::api::endpoint::{Content, Endpoint, Success, Tag, Verb, get, post, schema_of, text};
use crate::http::error::{HttpError, json as json_response};

/// What the next request for a job is to send as `last_update`.
const LAST_UPDATE: HeaderName = HeaderName::from_static("x-gitlab-last-update");

/// What runners do with jobs.
pub(in crate::api::ci) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: Success::CreatedOrNothing {
            description: "A job for this runner, as GitLab describes it. It goes to another runner unless this one \
                begins within `ci.runners.lease`.",
            schema: schema_of::<Object>,
            nothing: "There is none. The header `X-GitLab-Last-Update` is what the next request sends as \
                `last_update`, so that it is held until there is one.",
        },
        ..post(
            ("/api/v4/jobs/request", "requestJob"),
            Tag::Runners,
            Access::Credential(Credential::Runner),
            ("Ask for a job", ""),
            Content {
                schema: OBJECT,
                example: r#"{"token": "glrt-0123456789", "system_id": "s_0123456789ab", "info": {"version": "19.0.0"}}"#,
            },
            &[BAD_RUNNER_TOKEN, INVALID],
            request,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Put,
        success: object::<Object>("The report counts. The header `Job-Status` of a job that goes on is `running`."),
        ..post(
            ("/api/v4/jobs/{id}", "updateJob"),
            Tag::Runners,
            Access::Credential(Credential::Job),
            (
                "Report on a job",
                "`running` when it begins and from time to time, then `success` or `failed`.",
            ),
            Content {
                schema: OBJECT,
                example: r#"{"token": "glcbt-0123456789", "state": "running"}"#,
            },
            &[
                BAD_JOB_TOKEN,
                (412, "The trace is not what the runner sent: send it again from the beginning."),
                INVALID,
            ],
            update,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Patch,
        upload: Some("text/plain"),
        query: &[text("debug_trace", "Ignored.", "false")],
        refusals: &[
            BAD_JOB_TOKEN,
            (416, "It begins elsewhere than the trace ends: the header `Range` says where that is."),
        ],
        ..get(
            ("/api/v4/jobs/{id}/trace", "appendTrace"),
            Tag::Runners,
            Access::Credential(Credential::Job),
            (
                "Append to the trace of a job",
                "The header `Content-Range` has the places of the first and the last byte, like `0-99`.",
            ),
            Success::Accepted {
                description: "It is stored. The header `Range` has the size of the trace, like `0-100`.",
            },
            append,
        )
    }
    .with_ci(),
];

/// `POST /api/v4/jobs/request`
fn request(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, runner, _, body) = of_runner(&mut call).await?;
        let text = |key: &str| {
            let text = body.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let address = call.visitor.peer.address;
        let contact = RunnerContact {
            system_id: text("system_id"),
            info: body.get("info").cloned().unwrap_or_default(),
            address: address.map(|address| address.ip().to_string()),
        };
        let last_update = text("last_update");
        let given = jobs.request_job(runner, contact, last_update.as_deref());
        match given.await? {
            JobRequest::Given(taken) => {
                let payload = jobs.runner_payload(&taken).await?;
                Ok(json_response(StatusCode::CREATED, payload))
            }
            JobRequest::Nothing { cursor } => {
                let mut response = answer::nothing();
                if let Ok(cursor) = HeaderValue::try_from(cursor) {
                    response.headers_mut().insert(LAST_UPDATE, cursor);
                }
                Ok(response)
            }
        }
    })
}

/// What a runner reports, beside the token. What else it says is not needed.
#[derive(Debug, Deserialize)]
struct UpdateBody {
    state: ReportedState,
    failure_reason: Option<String>,
    exit_code: Option<i64>,
    checksum: Option<String>,
    output: Option<Output>,
}

#[derive(Debug, Deserialize)]
struct Output {
    checksum: Option<String>,
    bytesize: Option<u64>,
}

impl UpdateBody {
    fn report(self) -> JobReport {
        let (checksum, bytesize) = match self.output {
            Some(output) => (output.checksum, output.bytesize),
            None => (None, None),
        };
        // No program exits with such a code, and none that is allowed to fail is meant by it.
        let exit_code = self.exit_code.map(|code| i32::try_from(code).unwrap_or(-1));
        JobReport {
            state: self.state,
            failure_reason: self.failure_reason,
            exit_code,
            checksum: checksum.or(self.checksum).filter(|sum| !sum.is_empty()),
            bytesize,
        }
    }
}

/// `PUT /api/v4/jobs/{id}`
fn update(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let id = call.number(unknown_job)?;
        let jobs = call.jobs().await?;
        let body = call.take_object(OTHER).await?;
        let in_body = body.get("token").and_then(Value::as_str).map(str::to_owned);
        let given = token_in_header(&call, JOB_TOKEN).or(in_body);
        let token = given.ok_or_else(unknown_job)?;
        // Before anything else is said of the body.
        let body = match read::json::<UpdateBody>(&body) {
            Ok(body) => body,
            Err(faults) => {
                return match jobs.running_job(id, &token).await {
                    Ok(_) => Err(HttpError::unprocessable(&faults)),
                    Err(error) => not_running(error),
                };
            }
        };
        match jobs.update_job(id, &token, body.report()).await {
            Ok(ReportOutcome::Counts(status)) => {
                let response = answer::ok(&json!({"id": id, "status": status}))?;
                // A runner that reported the end would take it for an order to stop.
                Ok(match status {
                    JobStatus::Running => with_status(response, status),
                    _ => response,
                })
            }
            Ok(ReportOutcome::ResendTrace) => {
                let message = "the trace is not what the runner sent: send it again";
                Err(HttpError::new(
                    StatusCode::PRECONDITION_FAILED,
                    "trace_mismatch",
                    message,
                ))
            }
            Err(error) => not_running(error),
        }
    })
}
