//! Pages for people: their headers, the ones for errors, and how one gets to the page for signing in.

use hyper::StatusCode;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue,
    REFERRER_POLICY,
};
use hyper::http::request::Parts;

use super::answer::redirect;
use super::pages;
use crate::http::Response;
use crate::http::error::{HttpError, with_type};
use portcullis_gate::access::Access;
use portcullis_web::Problem;

/// Scripts, styles and pictures come from files here, never from the text of a page; forms go to this server, and
/// nothing is sent elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Whether a person is looking: a browser asks for a page, programs don't.
pub(crate) fn wants_page(head: &Parts) -> bool {
    let accept = head.headers.get(ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// A page with its headers.
pub(super) fn page(status: StatusCode, html: String) -> Response {
    let mut response = with_type(status, html.into_bytes(), "text/html; charset=utf-8");
    let headers = response.headers_mut();
    for (name, value) in pages::HEADERS {
        let name = HeaderName::from_static(name);
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Browsers say where a form came from only to pages that allow it.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

/// A page that says what is wrong.
pub(super) fn error_page(error: &HttpError) -> Response {
    let problem = Problem {
        status: error.status().as_u16(),
        message: error.message().to_owned(),
    };
    page(error.status(), portcullis_web::problem(&problem))
}

/// What people get instead of an error in JSON: a way to sign in, or a page that says why not.
pub(super) fn shown(
    access: &Access,
    head: &Parts,
    answer: Result<Response, HttpError>,
) -> Result<Response, HttpError> {
    let Err(error) = answer else {
        return answer;
    };
    if !wants_page(head) {
        return Err(error);
    }
    let can_sign_in = access.sessions.is_some() && !head.headers.contains_key(AUTHORIZATION);
    if error.status() == StatusCode::UNAUTHORIZED && head.method.is_safe() && can_sign_in {
        return redirect(&sign_in_for(head));
    }
    Ok(error_page(&error))
}

/// Where to sign in, to come back here.
pub(super) fn sign_in_for(head: &Parts) -> String {
    let here = head.uri.path_and_query().map_or("/", |here| here.as_str());
    format!("/sign-in?next={}", encoded(here))
}

/// A text inside of a query.
pub(super) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
