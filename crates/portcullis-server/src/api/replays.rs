//! One recorded decision: decided again by what is in force, and as a test case.

use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use portcullis_gate::offline::case_text;
use portcullis_gate::replay::{Answered, Outcome};
use portcullis_record::{Answer, Decision};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::access::at_root;
use super::answer;
use super::call::{Answering, Call};
use super::decisions::{self, ReadDecisions};
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use super::query::Query;
use crate::http::error::{HttpError, with_type};
use crate::playground::in_place;

/// A recorded decision, and what it would be now.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReplayedDecision")]
struct ReplayedDecision {
    /// The decision.
    id: String,
    /// `same`, `changed`, `unclear` if the record lacks what is needed, or `not_applicable` for calls of the API.
    outcome: &'static str,
    /// Why it is unclear or does not apply, or what else to know of a change.
    reason: Option<String>,
    /// `newlyDenied`, `newlyAllowed` or `patchDiffers`.
    change: Option<&'static str>,
    /// The policy, plug-in or authorizer that makes the difference.
    by: Option<String>,
    /// Whether it is denied then and now, but not by the same policy or plug-in.
    denied_by_another: bool,
    /// The recorded answer.
    then: AnswerSide,
    /// The answer of what is in force; absent unless it changed.
    now: Option<AnswerSide>,
}

/// An answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReplayedAnswer")]
struct AnswerSide {
    /// `allow` or `deny`.
    verdict: &'static str,
    /// The policy, or else the plug-in or authorizer, that decided.
    policy: Option<String>,
    /// Why; empty where there is nothing to say.
    message: String,
    /// Whether the object is changed.
    mutated: bool,
    /// The changes, as a JSON patch.
    patch: Vec<Value>,
}

impl AnswerSide {
    fn of(answered: Answered) -> Self {
        Self {
            verdict: match answered.allowed {
                true => Answer::Allow.as_str(),
                false => Answer::Deny.as_str(),
            },
            policy: answered.by,
            message: answered.message,
            mutated: !answered.patch.is_empty(),
            patch: answered.patch,
        }
    }

    fn recorded(decision: &Decision) -> Self {
        let summary = &decision.summary;
        Self {
            verdict: summary.verdict.as_str(),
            policy: summary.policy.clone().or(summary.plugin.clone()),
            message: summary.message.clone(),
            mutated: summary.mutated,
            patch: decision.patch.clone(),
        }
    }
}

/// What may be asked about one decision.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        refusals: &[
            (404, "The decision is unknown."),
            (429, "Too many decisions are being replayed."),
        ],
        ..get(
            ("/api/v1/decisions/{id}/replay", "replayDecision"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            (
                "Replay a decision",
                "Decides the recorded request again with the configuration in force. Host calls are answered from the record.",
            ),
            Success::Json {
                description: "The decision then and now.",
                schema: schema_of::<ReplayedDecision>,
            },
            replay,
        )
    },
    Endpoint {
        refusals: &[
            (404, "The decision is unknown."),
            (409, "A test can't ask what was asked."),
        ],
        ..get(
            ("/api/v1/decisions/{id}/test", "decisionAsTest"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            (
                "Show a decision as a test case",
                "The text of a `*.test.yaml` for `portcullis test`. Masked values stay masked.",
            ),
            Success::Other {
                description: "A test file with one case.",
                content_type: "application/yaml",
            },
            test_case,
        )
    },
];

/// The decision that the path names.
async fn decision(call: &Call<'_>) -> Result<Decision, HttpError> {
    let root = call.gate.access.roles.root();
    call.authorize(root, ReadDecisions).await?;
    Query::of(call.head).done()?;
    let log = &call.visitor.server.decisions;
    let line = decisions::line(log, call.values.get("id")).await?;
    Decision::from_line(&line).map_err(|error| {
        tracing::warn!("a recorded decision can't be read: {error}");
        HttpError::conflict("unreadable", "the record was made by another version")
    })
}

/// `GET /api/v1/decisions/{id}/replay`
fn replay(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let decision = decision(&call).await?;
        let place = call.visitor.server.playground.for_decision()?;
        let gate = Arc::clone(call.gate);
        let decided = in_place(place, move || (gate.replays.decide(&decision), decision));
        let (_, (outcome, decision)) = decided.await?;
        let outcome = outcome.map_err(|faults| {
            tracing::error!("cannot replay a decision: {faults}");
            HttpError::internal()
        })?;
        answer::ok(&replayed(&decision, outcome))
    })
}

fn replayed(decision: &Decision, outcome: Outcome) -> ReplayedDecision {
    let as_recorded = |outcome, reason| ReplayedDecision {
        id: decision.summary.id.clone(),
        outcome,
        reason,
        change: None,
        by: None,
        denied_by_another: false,
        then: AnswerSide::recorded(decision),
        now: None,
    };
    match outcome {
        Outcome::Same { by_another } => ReplayedDecision {
            denied_by_another: by_another,
            ..as_recorded("same", None)
        },
        Outcome::Changed(change) => ReplayedDecision {
            change: Some(change.kind.key()),
            by: Some(change.by),
            now: Some(AnswerSide::of(change.now)),
            ..as_recorded("changed", change.remark)
        },
        Outcome::Unknown(why) | Outcome::Failed(why) => as_recorded("unclear", Some(why)),
        Outcome::NotJudged => {
            let why = "the configuration does not judge such requests";
            as_recorded("not_applicable", Some(why.to_owned()))
        }
        Outcome::PassedOver => {
            let why = "calls of the API are decided by roles, and not replayed";
            as_recorded("not_applicable", Some(why.to_owned()))
        }
    }
}

/// `GET /api/v1/decisions/{id}/test`
fn test_case(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let decision = decision(&call).await?;
        let text = case_text(&decision)
            .map_err(|why| HttpError::conflict("not_a_test", why.to_string()))?;
        let mut response = with_type(StatusCode::OK, text.into_bytes(), "application/yaml");
        let no_store = HeaderValue::from_static("no-store");
        response.headers_mut().insert(CACHE_CONTROL, no_store);
        Ok(response)
    })
}
