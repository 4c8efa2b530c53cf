//! One call of the API on its way: what was sent, who sent it, and which endpoint it is for.

use std::pin::Pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::http::request::Parts;

use super::caller::Caller;
use super::endpoint::Endpoint;
use super::path::PathValues;
use super::people;
use super::record::Docket;
use crate::http::Response;
use crate::http::error::HttpError;
use crate::ledger::NoAnswer;
use crate::visitor::Visitor;
use portcullis_gate::Gate;

/// One call on its way.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) visitor: &'a Visitor,
    pub(crate) gate: &'a Arc<Gate>,
    pub(crate) head: &'a Parts,
    pub(crate) body: &'a mut Option<Incoming>,
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) values: PathValues,
    pub(crate) caller: Caller,
    pub(super) docket: &'a Docket,
}

/// What answers calls.
pub(crate) type Handler = for<'a> fn(Call<'a>) -> Answering<'a>;

/// An answer on its way.
pub(crate) type Answering<'a> =
    Pin<Box<dyn Future<Output = Result<Response, HttpError>> + Send + 'a>>;

impl Call<'_> {
    /// Finds out who asks, and lets the endpoint answer.
    pub(crate) async fn answer(
        visitor: &Visitor,
        gate: &Arc<Gate>,
        head: &Parts,
        body: &mut Option<Incoming>,
        endpoint: &'static Endpoint,
        values: PathValues,
    ) -> Result<Response, HttpError> {
        let docket = Docket::new();
        let caller = Caller::of(visitor, &gate.access, head).await;
        let call = Call {
            visitor,
            gate,
            head,
            body,
            endpoint,
            values,
            caller,
            docket: &docket,
        };
        let answer = (endpoint.run)(call).await;
        let answer = match endpoint.is_for_people() {
            true => people::shown(&gate.access, head, answer),
            false => answer,
        };
        let status = match &answer {
            Ok(response) => response.status(),
            Err(error) => error.status(),
        };
        visitor.server.metrics.call(endpoint.id, status.as_u16());
        docket.keep_after(visitor, gate, head, endpoint, status.as_u16());
        answer.map_err(HttpError::in_status_line)
    }
}

impl From<NoAnswer> for HttpError {
    fn from(_: NoAnswer) -> Self {
        Self::busy("the store does not answer")
    }
}
