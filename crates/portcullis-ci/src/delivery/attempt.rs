//! One try to deliver.

use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_jobs::{Answer, MOST_BODY_BYTES, Timestamp, classify_answer};
use portcullis_net::header::{HeaderName, HeaderValue, RETRY_AFTER};
use portcullis_net::{Error, Request};
use portcullis_store::ControllerSecret;

use crate::engine::{Tried, TryResult, now};
use crate::lanes::Outlet;
use crate::secrets;

/// The content type of webhooks.
const JSON: &str = "application/json";

/// What is sent.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) webhook_id: &'a str,
    pub(crate) body: String,
    pub(crate) secrets: &'a [ControllerSecret],
    pub(crate) within: Duration,
}

/// Sends a webhook, and says what became of it.
pub(crate) async fn send(outlet: &Outlet, message: Message<'_>) -> Tried {
    let at = now();
    let watch = Stopwatch::start();
    let (status, result) = match request(&message, at) {
        Err(error) => (None, failed(error)),
        Ok(request) => match outlet.post(&request, message.within, MOST_BODY_BYTES).await {
            Err(error) => (None, failed(describe(&error))),
            Ok(answer) => {
                let retry_after = answer.headers.get(RETRY_AFTER);
                let retry_after = retry_after.and_then(|value| value.to_str().ok());
                let status = answer.status.as_u16();
                let is_empty = answer.body.trim_ascii().is_empty();
                let result = match classify_answer(status, is_empty, retry_after, now()) {
                    Answer::Verdict => TryResult::Answered(answer.body.to_vec()),
                    Answer::Deferred => TryResult::Deferred,
                    Answer::Gone => TryResult::Gone,
                    Answer::Failed { error, retry_after } => {
                        TryResult::Failed { error, retry_after }
                    }
                };
                (Some(status), result)
            }
        },
    };
    Tried {
        at,
        status,
        took: watch.elapsed(),
        result,
    }
}

fn failed(error: String) -> TryResult {
    TryResult::Failed {
        error,
        retry_after: None,
    }
}

fn describe(error: &Error) -> String {
    portcullis_jobs::clean_reason(&error.to_string()).unwrap_or_default()
}

/// The request with its signatures, which are those of Standard Webhooks.
fn request(message: &Message<'_>, at: Timestamp) -> Result<Request, String> {
    let seconds = at.as_millis() / 1000;
    let signature = secrets::signatures(
        message.secrets,
        message.webhook_id,
        seconds,
        &message.body,
        at,
    );
    let mut request = Request::post(JSON, message.body.clone());
    let headers = [
        ("webhook-id", message.webhook_id),
        ("webhook-timestamp", &seconds.to_string()),
        ("webhook-signature", &signature),
    ];
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
        request = request.with_header(HeaderName::from_static(name), value);
    }
    Ok(request)
}
