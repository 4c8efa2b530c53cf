//! The Kubernetes door: reviews over HTTP.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{EXPECT, HeaderMap};
use hyper::http::request::Parts;
use portcullis_core::json::Index;
use portcullis_core::text::start;
use portcullis_core::{
    AccessVerdict, Attributes, Decision, Denial, DoorContext, FAILED_OPEN, Opinion, TraceContext,
    Verdict, clock,
};
use portcullis_kube::review::{self, AccessReview, AdmissionReview, Answer, Shape};
use portcullis_record::{Admission, Authorization, Body, Decided, Material};

use super::{Visitor, Webhook};
use crate::decisions::NotKept;
use crate::http::Response;
use crate::http::body::{self, BodyLimits};
use crate::http::error::{HttpError, json};
use crate::http::media_type;
use crate::server::Server;
use crate::trace;
use portcullis_config::PendingMutation;
use portcullis_gate::Gate;

/// A request for this door, its body still to come.
pub(super) struct Asked<'a> {
    pub(super) visitor: &'a Visitor,
    pub(super) gate: &'a Arc<Gate>,
    pub(super) head: &'a Parts,
}

impl Asked<'_> {
    /// Answers an `AdmissionReview`.
    pub(super) async fn admission(
        &self,
        webhook: Webhook,
        body: &mut Option<Incoming>,
    ) -> Result<Response, HttpError> {
        let received = clock::monotonic();
        let asked = asked_timeout(self.head.uri.query());
        let limit: Duration = self.gate.limits.request_deadline.into();
        let deadline = received + asked.map_or(limit, |asked| asked.min(limit));
        let (context, body) = self.take(body, webhook != Webhook::Acjs).await?;
        let question = Question {
            webhook,
            context,
            body,
            received,
            deadline,
        };
        judge(&self.visitor.server, self.gate, question).await
    }

    /// Answers a `SubjectAccessReview`.
    pub(super) async fn authorization(
        &self,
        chain: &str,
        body: &mut Option<Incoming>,
    ) -> Result<Response, HttpError> {
        let Some(authorizers) = self.gate.authorizers.get(chain) else {
            return Err(HttpError::not_found("unknown authorizer chain"));
        };
        let received = clock::monotonic();
        let (context, body) = self.take(body, true).await?;
        let (review, verdict) = caught(|| -> Result<_, HttpError> {
            let review = review::decode_access(&body, context);
            let review = review.map_err(|fault| HttpError::malformed(&fault))?;
            let verdict = authorizers.decide(&review.access);
            self.visitor.server.metrics.access(&verdict);
            if let Some(telemetry) = &self.visitor.server.telemetry {
                telemetry.access(&review.access, &verdict, received, StatusCode::OK.as_u16());
            }
            if let Some(error) = &verdict.error {
                tracing::warn!(decision_id = %verdict.id, chain, error, "could not decide");
            }
            Ok((review, verdict))
        })??;
        let limit: Duration = self.gate.limits.request_deadline.into();
        let keeping = Keeping {
            server: &self.visitor.server,
            gate: self.gate,
            body,
            deadline: received + limit,
        };
        Ok(json(
            StatusCode::OK,
            keeping.access(chain, review, verdict).await,
        ))
    }

    /// What the door knows of the request, and its body.
    async fn take(
        &self,
        body: &mut Option<Incoming>,
        is_type_checked: bool,
    ) -> Result<(DoorContext, Bytes), HttpError> {
        let Parts {
            method,
            uri,
            headers,
            ..
        } = self.head;
        if is_type_checked {
            media_type::expect_json(headers)?;
        }
        let Some(incoming) = body.take() else {
            return Err(HttpError::internal());
        };
        let limits = &self.gate.limits;
        let expects_continue = headers.contains_key(EXPECT);
        let limits = BodyLimits {
            bytes: limits.body.bytes(),
            time: limits.body_timeout.into(),
            budget: &self.visitor.server.budget,
        };
        let body = body::read(incoming, limits, expects_continue).await?;
        let context = DoorContext {
            method: method.as_str().to_owned(),
            uri: uri
                .path_and_query()
                .map_or_else(String::new, |p| p.as_str().to_owned()),
            headers: texts(headers),
            peer: self.visitor.peer.clone(),
            time: Some(clock::wall()),
            trace: trace::begin(self.visitor.server.telemetry.as_ref(), headers),
            ..DoorContext::default()
        };
        Ok((context, body))
    }
}

/// A whole review, not yet looked at.
struct Question {
    webhook: Webhook,
    context: DoorContext,
    body: Bytes,
    received: Instant,
    deadline: Instant,
}

async fn judge(server: &Server, gate: &Gate, question: Question) -> Result<Response, HttpError> {
    let Question {
        webhook,
        context,
        body,
        received,
        deadline,
    } = question;
    let decode = || review::decode_admission(&body, context, received, Some(deadline));
    let mut review = caught(decode)?.map_err(|fault| HttpError::malformed(&fault))?;
    let refuses_pending = gate.pending_mutation == PendingMutation::Refuse;
    let mut verdict = gate.chain.decide_later(&mut review.attributes).await;
    if webhook == Webhook::Validate && refuses_pending {
        portcullis_gate::refuse_pending_mutation(&mut verdict);
    }
    let attributes = &review.attributes;
    server
        .metrics
        .review(webhook.as_str(), attributes, &verdict);
    if let Some(telemetry) = &server.telemetry {
        telemetry.admission(attributes, &verdict, StatusCode::OK.as_u16());
    }
    if let Some(passed_over) = verdict.annotations.get(FAILED_OPEN) {
        tracing::warn!(
            decision_id = %verdict.id,
            request_uid = shown(&attributes.uid),
            failed_open = start(passed_over, SHOWN),
            "could not decide, and passed over",
        );
    }
    if let Some(denial) = verdict.denial() {
        tracing::info!(
            decision_id = %verdict.id,
            request_uid = shown(&attributes.uid),
            verdict = "deny",
            plugin = verdict.plugin.as_deref(),
            policy = verdict.policy.as_deref(),
            operation = %attributes.operation,
            resource = shown(&attributes.resource.to_string()),
            namespace = shown(&attributes.namespace),
            name = shown(&attributes.name),
            user = shown(&attributes.user.username),
            reason = start(&gate.masker.scrub_for(attributes, &denial.reason), SHOWN),
            "denied",
        );
    }
    let keeping = Keeping {
        server,
        gate,
        body,
        deadline,
    };
    Ok(json(
        StatusCode::OK,
        keeping.review(webhook, review, verdict).await,
    ))
}

/// Encodes answers, and keeps what was decided.
struct Keeping<'a> {
    server: &'a Server,
    gate: &'a Gate,
    body: Bytes,
    deadline: Instant,
}

impl Keeping<'_> {
    async fn review(self, webhook: Webhook, review: AdmissionReview, verdict: Verdict) -> Vec<u8> {
        let encode = |attributes: &Attributes, verdict: &Verdict| {
            let answer = Answer {
                version: &review.version,
                attributes,
                may_patch: webhook.may_patch(),
                shape: match webhook {
                    Webhook::Acjs => Shape::Acjs,
                    _ => Shape::Kubernetes,
                },
            };
            review::encode_admission(answer, verdict)
        };
        let answer = encode(&review.attributes, &verdict);
        if !self.server.decisions.is_on() {
            return answer;
        }
        // What is said if the decision must be kept, and can't be.
        let otherwise = self.server.decisions.is_required().then(|| {
            let refusal = Verdict {
                decision: Decision::Deny(Denial::undecided(NOT_KEPT)),
                patch: Vec::new(),
                ..verdict.clone()
            };
            encode(&review.attributes, &refusal)
        });
        let digest = verdict
            .policy
            .as_ref()
            .and_then(|policy| self.gate.policy_digests.get(policy).cloned());
        let context = Arc::clone(&review.attributes.context);
        let decided = Decided::Admission(Box::new(Admission {
            attributes: review.attributes,
            verdict,
            webhook: portcullis_record::Webhook {
                name: webhook.as_str().to_owned(),
                may_patch: webhook.may_patch(),
                refuses_pending: webhook == Webhook::Validate
                    && self.gate.pending_mutation == PendingMutation::Refuse,
            },
            digest,
        }));
        self.keep(decided, review.index, &context, answer, otherwise)
            .await
    }

    async fn access(self, chain: &str, review: AccessReview, verdict: AccessVerdict) -> Vec<u8> {
        let encode = |verdict: &AccessVerdict| review::encode_access(&review.version, verdict);
        let answer = encode(&verdict);
        if !self.server.decisions.is_on() {
            return answer;
        }
        let otherwise = self.server.decisions.is_required().then(|| {
            encode(&AccessVerdict {
                opinion: Opinion::NoOpinion(NOT_KEPT.to_owned()),
                authorizer: None,
                error: Some(NOT_KEPT.to_owned()),
                ..verdict.clone()
            })
        });
        let context = Arc::clone(&review.access.context);
        let decided = Decided::Authorization(Box::new(Authorization {
            access: review.access,
            verdict,
            chain: chain.to_owned(),
        }));
        self.keep(decided, review.index, &context, answer, otherwise)
            .await
    }

    /// Keeps the decision; what is returned is to be answered.
    async fn keep(
        self,
        decided: Decided,
        index: Index,
        context: &DoorContext,
        answer: Vec<u8>,
        otherwise: Option<Vec<u8>>,
    ) -> Vec<u8> {
        let log = &self.server.decisions;
        let material = Material {
            body: Body(Arc::new(self.body)),
            index: Some(index),
            received: context.time.unwrap_or_else(clock::wall),
            gate: Arc::clone(&self.gate.digest),
            traceparent: context.trace.as_ref().map(TraceContext::traceparent),
            decided,
        };
        let masker = Arc::clone(&self.gate.masker);
        match otherwise {
            None => {
                log.keep(material, masker);
                answer
            }
            Some(otherwise) => match log.keep_surely(&material, &masker, self.deadline).await {
                Ok(()) => answer,
                Err(NotKept) => otherwise,
            },
        }
    }
}

/// Why a decision that must be kept and can't be is a refusal.
const NOT_KEPT: &str = "the decision could not be recorded, which is required";

/// So many characters of a text stand in a line of the log.
const SHOWN: usize = 253;

/// Callers choose these texts: a line of the log repeats only a part of a long one, and no token.
fn shown(text: &str) -> String {
    start(&portcullis_record::without_tokens(text), SHOWN).to_owned()
}

/// A panic outside a plug-in is one failed request too.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, HttpError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| HttpError::internal())
}

fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
        .collect()
}

/// The time the API server gives, which it sends along as `?timeout=10s`.
fn asked_timeout(query: Option<&str>) -> Option<Duration> {
    let value = query?
        .split('&')
        .find_map(|pair| pair.strip_prefix("timeout="))?;
    let seconds: u64 = value.strip_suffix('s')?.parse().ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds.min(3600)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_the_api_server_gives_is_read() {
        assert_eq!(
            asked_timeout(Some("a=b&timeout=10s")),
            Some(Duration::from_secs(10))
        );
        for query in [
            "timeout=",
            "timeout=0s",
            "timeout=10",
            "timeout=-1s",
            "timeout=99999999999999999999s",
            "x",
        ] {
            assert_eq!(asked_timeout(Some(query)), None, "{query}");
        }
    }

    #[test]
    fn the_log_repeats_a_part_of_long_texts() {
        assert_eq!(shown("web"), "web");
        assert_eq!(shown(&"ü".repeat(1_000_000)).chars().count(), 253);
    }
}
