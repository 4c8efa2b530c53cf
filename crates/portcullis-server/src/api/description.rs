//! The human-readable description of the API.

use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG, HeaderName, HeaderValue,
    IF_NONE_MATCH,
};

use super::access::DESCRIBES;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, get};
use super::pages;
use crate::http::answer::Answer;
use crate::http::error::{HttpError, with_type};

/// How the API is described.
pub(super) const ENDPOINTS: &[Endpoint] = &[get(
    ("/docs", "docs"),
    Tag::Description,
    DESCRIBES,
    ("Show this API description as a page", ""),
    Success::Other {
        description: "A page.",
        content_type: "text/html; charset=utf-8",
    },
    docs,
)
.with_web()];

/// `GET /docs` and what belongs to it.
pub(super) fn docs(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let Some(page) = pages::answer(call.head.uri.path()) else {
            return Err(HttpError::not_found("no such path"));
        };
        let known = call.head.headers.get(IF_NONE_MATCH);
        if known.is_some_and(|known| known.as_bytes() == page.etag.as_bytes()) {
            let mut response = with_type(StatusCode::NOT_MODIFIED, Vec::new(), page.content_type);
            response
                .headers_mut()
                .insert(ETAG, HeaderValue::from_static(page.etag));
            return Ok(response);
        }
        let mut response = with_type(StatusCode::OK, Vec::new(), page.content_type);
        *response.body_mut() = Answer::whole(page.body);
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(page.cache));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page.csp));
        headers.insert(ETAG, HeaderValue::from_static(page.etag));
        if let Some(encoding) = page.encoding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        for (name, value) in pages::HEADERS {
            let name = HeaderName::from_static(name);
            headers.insert(name, HeaderValue::from_static(value));
        }
        Ok(response)
    })
}
