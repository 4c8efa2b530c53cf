//! What the doors of Kubernetes share: a review is the body of a request, and so is its answer.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{EXPECT, HeaderMap};
use hyper::http::request::Parts;
use portcullis_core::json::{Index, JsonFault};
use portcullis_core::text::start;
use portcullis_core::{DoorContext, TraceContext, clock};
use portcullis_gate::Gate;
use portcullis_record::{Body, Decided, Material};

use crate::door::{Door, Keeping};
use crate::http::body::{self, BodyLimits};
use crate::http::error::{HttpError, json};
use crate::http::{Response, browser, media_type};
use crate::trace;
use crate::visitor::Visitor;

/// A door whose questions are reviews.
pub(super) trait ReviewDoor: Door<Answer = Vec<u8>> {
    /// A review as it is read.
    type Review;

    /// Whether bodies needn't be declared to be JSON.
    fn takes_any_type(&self) -> bool {
        false
    }

    /// How long who asks waits for the answer, if the query says so.
    fn time(&self, _query: Option<&str>) -> Option<Duration> {
        None
    }

    /// Reads a review.
    fn decode(
        &self,
        body: &[u8],
        context: DoorContext,
        received: Instant,
        deadline: Instant,
    ) -> Result<Self::Review, JsonFault>;

    /// Asks the gate.
    fn judge(
        self,
        gate: &Gate,
        asked: Asked<Self::Review>,
    ) -> impl Future<Output = Result<Self::Decision, HttpError>> + Send;
}

/// What is asked, and the body it was read from.
#[derive(Debug)]
pub(super) struct Asked<R> {
    pub(super) review: R,
    pub(super) body: Bytes,
    pub(super) received: Instant,
}

/// A request for one of these doors, its body still to come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reviewing<'a> {
    visitor: &'a Visitor,
    gate: &'a Arc<Gate>,
    head: &'a Parts,
}

impl<'a> Reviewing<'a> {
    /// Goes on unless a browser was made to ask by a page of another site.
    pub(super) fn begin(
        visitor: &'a Visitor,
        gate: &'a Arc<Gate>,
        head: &'a Parts,
    ) -> Result<Self, HttpError> {
        if visitor.peer.unix.is_none() && browser::is_foreign(head, None) {
            return Err(HttpError::forbidden(
                "cross_site",
                "cross-site requests are not allowed",
            ));
        }
        Ok(Self {
            visitor,
            gate,
            head,
        })
    }

    /// Answers it: from the body to the record.
    pub(super) async fn answer<D: ReviewDoor>(
        self,
        door: D,
        body: &mut Option<Incoming>,
    ) -> Result<Response, HttpError> {
        let received = clock::monotonic();
        let limit: Duration = self.gate.limits.request_deadline.into();
        let time = door.time(self.head.uri.query());
        let deadline = received + time.map_or(limit, |time| time.min(limit));
        let (context, body) = self.take(body, door.takes_any_type()).await?;
        let review = caught(|| door.decode(&body, context, received, deadline))?;
        let asked = Asked {
            review: review.map_err(|fault| HttpError::malformed(&fault))?,
            body,
            received,
        };
        let decision = door.judge(self.gate, asked).await?;
        let server = &self.visitor.server;
        caught(|| D::report(server, self.gate, &decision))?;
        let keeping = Keeping {
            server,
            gate: self.gate,
            deadline,
        };
        let answer = keeping.answer::<D>(decision).await;
        Ok(json(StatusCode::OK, answer))
    }

    /// What is known of the request, and its body.
    async fn take(
        &self,
        body: &mut Option<Incoming>,
        takes_any_type: bool,
    ) -> Result<(DoorContext, Bytes), HttpError> {
        let Parts {
            method,
            uri,
            headers,
            ..
        } = self.head;
        if !takes_any_type {
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

/// What the record keeps of a review.
pub(super) fn material(
    decided: Decided,
    gate: &Gate,
    context: &DoorContext,
    (body, index): (Bytes, Index),
) -> Material {
    Material {
        body: Body(Arc::new(body)),
        index: Some(index),
        received: context.time.unwrap_or_else(clock::wall),
        gate: Arc::clone(&gate.digest),
        traceparent: context.trace.as_ref().map(TraceContext::traceparent),
        decided,
    }
}

/// So many characters of a text stand in a line of the log.
pub(super) const SHOWN: usize = 253;

/// Callers choose these texts: a line of the log repeats only a part of a long one, and no token.
pub(super) fn shown(text: &str) -> String {
    start(&portcullis_record::without_tokens(text), SHOWN).to_owned()
}

/// A panic outside a plug-in is one failed request too.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, HttpError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| HttpError::internal())
}

fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_repeats_a_part_of_long_texts() {
        assert_eq!(shown("web"), "web");
        assert_eq!(shown(&"ü".repeat(1_000_000)).chars().count(), 253);
    }
}
