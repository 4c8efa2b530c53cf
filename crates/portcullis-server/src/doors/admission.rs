//! Kubernetes admission: `AdmissionReview`, judged by the chain of plug-ins.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use portcullis_config::{PendingMutation, Service};
use portcullis_core::json::JsonFault;
use portcullis_core::text::start;
use portcullis_core::{Decision, Denial, DoorContext, FAILED_OPEN, Verdict};
use portcullis_gate::{Gate, refuse_pending_mutation};
use portcullis_kube::review::{self, AdmissionReview, Answer, Shape};
use portcullis_record::{Decided, Material, Webhook, WebhookName};

use super::reviews::{Asked, ReviewDoor, SHOWN, material, shown};
use super::{Found, Lookup, Route};
use crate::door::{Door, NOT_RECORDED};
use crate::http::error::HttpError;
use crate::server::Server;

/// Admission reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    /// The way in.
    pub(super) webhook: WebhookName,
}

/// A review that was judged.
#[derive(Debug)]
pub(crate) struct AdmissionDecision {
    webhook: WebhookName,
    refuses_pending: bool,
    asked: Asked<AdmissionReview>,
    verdict: Verdict,
}

pub(super) fn find<'a>(lookup: &Lookup<'a>, _: &[Service]) -> Found<'a> {
    let to = |webhook| Route::Admission(Admission { webhook });
    if lookup.is_acjs {
        return Found::Route(to(WebhookName::Acjs));
    }
    match lookup.parts() {
        Some(("mutate", _)) => lookup.posted(to(WebhookName::Mutate)),
        Some(("validate", _)) => lookup.posted(to(WebhookName::Validate)),
        Some(("admit", _)) => lookup.posted(to(WebhookName::Admit)),
        _ => Found::Nothing,
    }
}

impl ReviewDoor for Admission {
    type Review = AdmissionReview;

    fn takes_any_type(&self) -> bool {
        self.webhook == WebhookName::Acjs
    }

    /// API servers send along how long they wait.
    fn time(&self, query: Option<&str>) -> Option<Duration> {
        asked_timeout(query)
    }

    fn decode(
        &self,
        body: &[u8],
        context: DoorContext,
        received: Instant,
        deadline: Instant,
    ) -> Result<AdmissionReview, JsonFault> {
        review::decode_admission(body, context, received, Some(deadline))
    }

    async fn judge(
        self,
        gate: &Gate,
        mut asked: Asked<AdmissionReview>,
    ) -> Result<AdmissionDecision, HttpError> {
        let mut verdict = gate.chain.decide_later(&mut asked.review.attributes).await;
        let is_validating = self.webhook == WebhookName::Validate;
        let refuses_pending = is_validating && gate.pending_mutation == PendingMutation::Refuse;
        if refuses_pending {
            refuse_pending_mutation(&mut verdict);
        }
        Ok(AdmissionDecision {
            webhook: self.webhook,
            refuses_pending,
            asked,
            verdict,
        })
    }
}

impl Door for Admission {
    const NAME: portcullis_core::Door = portcullis_core::Door::Kubernetes;
    const SERVICES: &'static [Service] = &[Service::Kubernetes];
    type Decision = AdmissionDecision;
    type Answer = Vec<u8>;

    fn report(server: &Server, gate: &Gate, decision: &AdmissionDecision) {
        let (attributes, verdict) = (&decision.asked.review.attributes, &decision.verdict);
        server
            .metrics
            .review(decision.webhook.as_str(), attributes, verdict);
        if let Some(telemetry) = &server.telemetry {
            telemetry.admission(attributes, verdict, StatusCode::OK.as_u16());
        }
        if let Some(passed_over) = verdict.annotations.get(FAILED_OPEN) {
            tracing::warn!(
                target: "portcullis::decision",
                decision_id = %verdict.id,
                request_uid = shown(&attributes.uid),
                failed_open = start(passed_over, SHOWN),
                "could not decide, and passed over",
            );
        }
        if let Some(denial) = verdict.denial() {
            tracing::info!(
                target: "portcullis::decision",
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
    }

    fn encode(decision: &AdmissionDecision) -> Vec<u8> {
        decision.encoded(&decision.verdict)
    }

    fn encode_unrecorded(decision: &AdmissionDecision) -> Vec<u8> {
        decision.encoded(&Verdict {
            decision: Decision::Deny(Denial::undecided(NOT_RECORDED)),
            patch: Vec::new(),
            ..decision.verdict.clone()
        })
    }

    fn record(decision: AdmissionDecision, gate: &Gate) -> Material {
        let may_patch = decision.may_patch();
        let AdmissionDecision {
            webhook,
            refuses_pending,
            asked,
            verdict,
        } = decision;
        let AdmissionReview {
            attributes, index, ..
        } = asked.review;
        let policy = verdict.policy.as_ref();
        let digest = policy.and_then(|policy| gate.policy_digests.get(policy).cloned());
        let context = Arc::clone(&attributes.context);
        let decided = Decided::Admission(Box::new(portcullis_record::Admission {
            attributes,
            verdict,
            webhook: Some(Webhook {
                name: webhook.into(),
                may_patch,
                refuses_pending,
            }),
            digest,
        }));
        material(decided, gate, &context, (asked.body, index))
    }
}

impl AdmissionDecision {
    fn may_patch(&self) -> bool {
        self.webhook != WebhookName::Validate
    }

    fn encoded(&self, verdict: &Verdict) -> Vec<u8> {
        let review = &self.asked.review;
        let answer = Answer {
            version: &review.version,
            attributes: &review.attributes,
            may_patch: self.may_patch(),
            shape: match self.webhook {
                WebhookName::Acjs => Shape::Acjs,
                _ => Shape::Kubernetes,
            },
        };
        review::encode_admission(answer, verdict)
    }
}

/// The time that `?timeout=10s` gives.
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
}
