//! One exchange with another controller or a service, for a call.

use std::time::Instant;

use bytes::Bytes;
use portcullis_net::header::{ACCEPT, AUTHORIZATION, HOST, HeaderName, HeaderValue};
use portcullis_net::{
    Address, Client, Deadline, Error, HttpResponse, Limits, Protocol, Request, Trust,
};

use crate::text::excerpt;

/// An address, and what is sent there.
#[derive(Debug)]
pub(crate) struct HttpCall<'a> {
    pub(crate) address: Address,
    /// What is asked for there, where the address doesn't say it.
    pub(crate) path: Option<String>,
    /// Whose certificates count.
    pub(crate) trust: &'a Trust,
    /// JSON to post; without it, something is only read.
    pub(crate) body: Option<Bytes>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The most bytes the answer may have.
    pub(crate) limit: usize,
    pub(crate) deadline: Instant,
}

/// A header that proves who we are.
pub(crate) fn bearer(token: &str) -> Result<(HeaderName, HeaderValue), String> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| "the token contains characters that are not allowed".to_owned())?;
    value.set_sensitive(true);
    Ok((AUTHORIZATION, value))
}

/// Asks, and waits for the whole answer.
pub(crate) async fn ask(call: HttpCall<'_>) -> Result<HttpResponse, String> {
    let origin = call.address.origin();
    let answer = exchange(call).await;
    answer.map_err(|error| {
        // It may repeat what the other end said of itself, such as the names of a certificate.
        format!("{origin}: {}", excerpt(error.to_string().as_bytes(), 400))
    })
}

/// The same, with the error as it is.
pub(crate) async fn exchange(call: HttpCall<'_>) -> Result<HttpResponse, Error> {
    let mut request = match call.body {
        Some(body) => Request::post("application/json", body),
        None => Request::get(),
    };
    request = request.with_header(ACCEPT, HeaderValue::from_static("application/json"));
    if let Address::Unix(_) = &call.address {
        request = request.with_header(HOST, HeaderValue::from_static("unix"));
    }
    if let Some(path) = call.path {
        request = request.with_path(path);
    }
    for (name, value) in call.headers {
        request = request.with_header(name, value);
    }
    let limits = Limits {
        deadline: Deadline::At(call.deadline),
        body: call.limit,
    };
    let client = Client::new(call.address, Protocol::Http1, call.trust)?;
    client.exchange(&request, limits).await
}
