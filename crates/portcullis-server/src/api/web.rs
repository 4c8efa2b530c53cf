//! Web pages: who looks, whether a form comes from our own page, and the API that pages are made of.
//!
//! Pages themselves are in portcullis-web. They see and do what the API allows the person who looks, because all
//! they have is calls of the API (`backend`).

mod backend;

use std::sync::Arc;

use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, HeaderValue};
use hyper::http::request::Parts;
use portcullis_gate::Gate;
use portcullis_web::{Asset, Page, Problem, Reply, explain};

use self::backend::InProcess;
use super::access::Access;
use super::answer::redirect;
use super::audit::Audit;
use super::call::Call;
use super::caller::Caller;
use super::path::PathValues;
use super::people;
use super::sign_in::form_fields;
use crate::http::answer::Answer;
use crate::http::error::{HttpError, with_type};
use crate::http::{Response, browser};
use crate::visitor::Visitor;

/// Its path has a digest in it, so it is never another.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// Forms with the text of a policy and an object, percent-encoded, are no larger.
const FORM_BYTES: u64 = 2 << 20;

/// The name of pages in metrics.
const PAGE: &str = "page";

/// Answers with a page, or does what a form says and goes to one.
pub(crate) async fn answer(
    page: Page,
    visitor: &Visitor,
    gate: &Arc<Gate>,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Result<Response, HttpError> {
    let is_strict = visitor.setup.load().is_strict;
    let caller = Caller::of(visitor, &gate.access, head).await;
    let answer = answer_for(page, visitor, gate, caller, (head, body)).await;
    let answer = people::shown(&gate.access, head, answer);
    let status = match &answer {
        Ok(response) => response.status(),
        Err(error) => error.status(),
    };
    visitor.server.metrics.call(PAGE, status.as_u16());
    let mut answer = answer?;
    browser::protect(&mut answer, is_strict);
    Ok(answer)
}

/// A path that leads nowhere, where there are pages. People keep their navigation.
pub(crate) async fn not_found(
    visitor: &Visitor,
    gate: &Arc<Gate>,
    head: &Parts,
) -> Result<Response, HttpError> {
    let error = HttpError::not_found("no such path");
    if !people::wants_page(head) {
        return Err(error);
    }
    let caller = Caller::of(visitor, &gate.access, head).await;
    if caller.identity().is_none() {
        return Ok(people::error_page(&error));
    }
    let backend = InProcess::new(visitor, gate, caller);
    let problem = Problem::not_found(error.message());
    shown(explain(&backend, head.uri.path(), &problem))
}

fn shown(reply: Reply) -> Result<Response, HttpError> {
    match reply {
        Reply::Page { status, html } => {
            let status = StatusCode::from_u16(status).map_err(|_| HttpError::internal())?;
            Ok(people::page(status, html))
        }
        Reply::SeeOther(to) => redirect(&to),
    }
}

/// The same for a caller who is known already.
async fn answer_for(
    page: Page,
    visitor: &Visitor,
    gate: &Arc<Gate>,
    caller: Caller,
    (head, body): (&Parts, &mut Option<Incoming>),
) -> Result<Response, HttpError> {
    if caller.identity().is_none() {
        return Err(caller.challenge(&gate.access));
    }
    let form = match head.method.is_safe() {
        true => Vec::new(),
        false => checked_form(visitor, gate, &caller, (head, body)).await?,
    };
    let backend = InProcess::new(visitor, gate, caller);
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
    shown(page.answer(&backend, (path, query), form).await)
}

/// The fields of a form that one of our own pages sent.
async fn checked_form(
    visitor: &Visitor,
    gate: &Arc<Gate>,
    caller: &Caller,
    (head, body): (&Parts, &mut Option<Incoming>),
) -> Result<Vec<(String, String)>, HttpError> {
    let audit = Audit::begin(visitor, gate, head, PAGE);
    let call = Call {
        visitor,
        gate,
        head,
        body,
        given: None,
        access: Access::SignedIn("is a form of a page"),
        values: PathValues::default(),
        caller: caller.clone(),
        audit: &audit,
    };
    call.check_site()?;
    let fields = form_fields(&visitor.server.budget, &mut *call.body, FORM_BYTES).await?;
    if let Caller::SignedIn(session) = caller {
        let given = fields.iter().find(|(name, _)| name == "csrf");
        let given = given.map_or("", |(_, value)| value.as_str());
        call.check_csrf(session, given).map_err(|_| {
            HttpError::forbidden(
                "csrf",
                "the form is too old, or was not made by a page of this session: open it again",
            )
        })?;
    }
    Ok(fields)
}

/// A file that belongs to pages.
pub(crate) fn asset(asset: &'static Asset) -> Response {
    let mut response = with_type(StatusCode::OK, Vec::new(), asset.content_type);
    *response.body_mut() = Answer::whole(asset.body);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(FOREVER));
    if let Some(encoding) = asset.encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    browser::protect(&mut response, false);
    response
}
