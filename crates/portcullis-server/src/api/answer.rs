//! Answers in JSON.

use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, LOCATION};
use serde::Serialize;

use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::error::{HttpError, json};

/// 200 with a value. It depends on the caller, so it must not be cached.
pub(super) fn ok(value: &impl Serialize) -> Result<Response, HttpError> {
    let body = serde_json::to_vec(value).map_err(|_| HttpError::internal())?;
    let mut response = json(StatusCode::OK, body);
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
    Ok(response)
}

/// 201 with what was created.
pub(super) fn created(value: &impl Serialize) -> Result<Response, HttpError> {
    let mut response = ok(value)?;
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

/// 204 with nothing.
pub(super) fn nothing() -> Response {
    let mut response = Response::new(Answer::whole(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// 303 to somewhere else.
pub(super) fn redirect(to: &str) -> Result<Response, HttpError> {
    let mut response = Response::new(Answer::whole(Vec::new()));
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    let location = HeaderValue::try_from(to).map_err(|_| HttpError::internal())?;
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}
