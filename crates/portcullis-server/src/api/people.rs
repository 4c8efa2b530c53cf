//! Small HTML pages: one layout, no scripts, nothing from another host.

use hyper::StatusCode;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue,
    REFERRER_POLICY,
};
use hyper::http::request::Parts;

use super::answer::redirect;
use super::html::escaped;
use super::pages;
use crate::http::Response;
use crate::http::error::{HttpError, with_type};
use portcullis_gate::access::Access;

/// Styles and pictures come from files here; forms go to this server.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Whether a person is looking: a browser asks for a page, programs don't.
pub(super) fn wants_page(head: &Parts) -> bool {
    let accept = head.headers.get(ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// A page; `main` is HTML, the title is text.
pub(super) fn page(status: StatusCode, title: &str, main: &str) -> Response {
    let title = escaped(title);
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} - Portcullis</title>\n\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"/docs/icon.svg\">\n\
         <link rel=\"stylesheet\" href=\"/docs/people.css\">\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{main}\n</main>\n</body>\n</html>\n"
    );
    let mut response = with_type(status, text.into_bytes(), "text/html; charset=utf-8");
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
pub(super) fn error_page(error: &HttpError, title: &str) -> Response {
    let main = format!(
        "<p>{}</p>\n<p><a href=\"/\">Portcullis</a></p>",
        escaped(&sentence(error.message()))
    );
    page(error.status(), title, &main)
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
    let title = error.status().canonical_reason().unwrap_or("Error");
    Ok(error_page(&error, title))
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

/// A message as a sentence.
pub(super) fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str())
}
