//! One call of the API on its way: what was sent, who sent it, and which endpoint it is for.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::http::request::Parts;

use super::access::Access;
use super::audit::Audit;
use super::caller::Caller;
use super::cookies;
use super::path::PathValues;
use crate::http::Response;
use crate::http::error::HttpError;
use crate::operator_state::NoAnswer;
use crate::visitor::Visitor;
use portcullis_gate::Gate;

/// One call on its way.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) visitor: &'a Visitor,
    pub(crate) gate: &'a Arc<Gate>,
    pub(crate) head: &'a Parts,
    pub(crate) body: &'a mut Option<Incoming>,
    /// The body of a call that was made within this process.
    pub(super) given: Option<Bytes>,
    /// What its endpoint declares that the caller needs.
    pub(super) access: Access,
    pub(crate) values: PathValues,
    pub(crate) caller: Caller,
    pub(super) audit: &'a Audit<'a>,
}

/// What answers calls.
pub(crate) type Handler = for<'a> fn(Call<'a>) -> Answering<'a>;

/// An answer on its way.
pub(crate) type Answering<'a> =
    Pin<Box<dyn Future<Output = Result<Response, HttpError>> + Send + 'a>>;

impl<'a> Call<'a> {
    /// Where it came in, which cookies depend on.
    pub(super) fn at(&self) -> (&'a Visitor, &'a portcullis_gate::access::Access) {
        (self.visitor, &self.gate.access)
    }

    /// Whether the browser comes over TLS.
    pub(super) fn is_secure(&self) -> bool {
        cookies::is_secure(self.visitor, &self.gate.access)
    }
}

impl From<NoAnswer> for HttpError {
    fn from(_: NoAnswer) -> Self {
        Self::busy("the store does not answer")
    }
}
