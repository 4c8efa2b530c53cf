//! Verdicts that controllers send by themselves.

use portcullis_ci::CallbackOutcome;
use portcullis_jobs::{MOST_BODY_BYTES, Verdict};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{INVALID, object};
use crate::api::access::{Access, Credential};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, Tag, post};

/// The one call that takes verdicts.
pub(in crate::api) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    success: object::<CallbackAnswer>("The verdict counts, or the same one came before."),
    ..post(
        ("/api/v1/admission/callback/{token}", "admissionCallback"),
        Tag::Controllers,
        Access::Credential(Credential::Callback),
        (
            "Send a verdict",
            "For controllers that did not answer the webhook itself: the `callback_url` of its payload. A verdict, or \
             a list of one.",
        ),
        Content {
            schema: verdict_schema,
            example: r#"{"id": 17, "admission": "accepted", "reason": "within the budget", "tags": {"add": ["eu"], "remove": []}}"#,
        },
        &[
            (401, "The token is unknown."),
            (409, "Another verdict counts already, or the job waits no longer."),
            INVALID,
        ],
        callback,
    )
}
.with_ci()];

/// Whose verdict it was.
#[derive(Debug, Serialize, JsonSchema)]
struct CallbackAnswer {
    /// The job.
    job: u64,
    /// Whether the same verdict came before.
    repeated: bool,
}

/// A verdict, or a list of one. Other spellings of its words are read too.
fn verdict_schema(generator: &mut SchemaGenerator) -> Schema {
    let verdict = generator.subschema_for::<Verdict>();
    json_schema!({
        "anyOf": [verdict, {"type": "array", "items": verdict, "minItems": 1, "maxItems": 1}],
    })
}

/// `POST /api/v1/admission/callback/{token}`
fn callback(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let jobs = call.jobs().await?;
        let most = u64::try_from(MOST_BODY_BYTES).unwrap_or(u64::MAX);
        let bytes = call.take_bytes(most).await?;
        let outcome = jobs.callback(call.values.get("token"), &bytes).await?;
        let (job, repeated) = match outcome {
            CallbackOutcome::Recorded(job) => (job, false),
            CallbackOutcome::Repeated(job) => (job, true),
        };
        answer::ok(&CallbackAnswer { job, repeated })
    })
}
