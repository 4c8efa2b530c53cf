//! Kubernetes authorization: `SubjectAccessReview`, judged by a chain of authorizers.

use std::sync::Arc;
use std::time::Instant;

use hyper::StatusCode;
use portcullis_config::Service;
use portcullis_core::json::JsonFault;
use portcullis_core::{AccessVerdict, AuthorizerChain, DoorContext, Opinion};
use portcullis_gate::Gate;
use portcullis_kube::review::{self, AccessReview};
use portcullis_record::{Decided, Material};

use super::reviews::{Asked, ReviewDoor, caught, material};
use super::{Found, Lookup, Route};
use crate::door::{Door, NOT_RECORDED};
use crate::http::error::HttpError;
use crate::server::Server;

/// Access reviews for one chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Authorization<'a> {
    chain: &'a str,
    authorizers: &'a AuthorizerChain,
}

/// A review that was judged.
#[derive(Debug)]
pub(crate) struct AccessDecision<'a> {
    chain: &'a str,
    asked: Asked<AccessReview>,
    verdict: AccessVerdict,
}

pub(super) fn find<'a>(lookup: &Lookup<'a>, _: &[Service]) -> Found<'a> {
    match lookup.parts() {
        Some(("authorize", None | Some(""))) => lookup.posted(Route::Authorization("default")),
        Some(("authorize", Some(chain))) => lookup.posted(Route::Authorization(chain)),
        _ => Found::Nothing,
    }
}

impl<'a> Authorization<'a> {
    pub(super) fn of(gate: &'a Gate, chain: &'a str) -> Result<Self, HttpError> {
        let Some(authorizers) = gate.authorizers.get(chain) else {
            return Err(HttpError::not_found(
                "there is no authorizer chain of this name",
            ));
        };
        Ok(Self { chain, authorizers })
    }
}

impl<'a> ReviewDoor for Authorization<'a> {
    type Review = AccessReview;

    fn decode(
        &self,
        body: &[u8],
        context: DoorContext,
        _: Instant,
        _: Instant,
    ) -> Result<AccessReview, JsonFault> {
        review::decode_access(body, context)
    }

    async fn judge(
        self,
        _: &Gate,
        asked: Asked<AccessReview>,
    ) -> Result<AccessDecision<'a>, HttpError> {
        let verdict = caught(|| self.authorizers.decide(&asked.review.access))?;
        Ok(AccessDecision {
            chain: self.chain,
            asked,
            verdict,
        })
    }
}

impl<'a> Door for Authorization<'a> {
    const NAME: portcullis_core::Door = portcullis_core::Door::Authorization;
    const SERVICES: &'static [Service] = &[Service::Kubernetes];
    type Decision = AccessDecision<'a>;
    type Answer = Vec<u8>;

    fn report(server: &Server, _: &Gate, decision: &AccessDecision<'a>) {
        let AccessDecision {
            chain,
            asked,
            verdict,
        } = decision;
        server.metrics.access(verdict);
        if let Some(telemetry) = &server.telemetry {
            let status = StatusCode::OK.as_u16();
            telemetry.access(&asked.review.access, verdict, asked.received, status);
        }
        if let Some(error) = &verdict.error {
            tracing::warn!(
                target: "portcullis::decision",
                decision_id = %verdict.id,
                chain,
                error,
                "could not decide",
            );
        }
    }

    fn encode(decision: &AccessDecision<'a>) -> Vec<u8> {
        review::encode_access(&decision.asked.review.version, &decision.verdict)
    }

    fn encode_unrecorded(decision: &AccessDecision<'a>) -> Vec<u8> {
        let verdict = AccessVerdict {
            opinion: Opinion::NoOpinion(NOT_RECORDED.to_owned()),
            authorizer: None,
            error: Some(NOT_RECORDED.to_owned()),
            ..decision.verdict.clone()
        };
        review::encode_access(&decision.asked.review.version, &verdict)
    }

    fn record(decision: AccessDecision<'a>, gate: &Gate) -> Material {
        let AccessReview { access, index, .. } = decision.asked.review;
        let context = Arc::clone(&access.context);
        let decided = Decided::Authorization(Box::new(portcullis_record::Authorization {
            access,
            verdict: decision.verdict,
            chain: decision.chain.to_owned(),
        }));
        material(decided, gate, &context, (decision.asked.body, index))
    }
}
