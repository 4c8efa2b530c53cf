//! One request to the API server with what is sent along, and its answer, whatever it is, within limits.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, DATE};
use http::{Method, Request};
use kube::client::Body;
use serde_json::Value;

use super::Cluster;
use super::failure::Failure;
use super::request::{MAX_STATUS, collect, within};

/// What is sent along.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sent<'a> {
    Nothing,
    Object(&'a Value),
    JsonPatch(&'a Value),
}

impl Sent<'_> {
    fn content_type(&self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Object(_) => Some("application/json"),
            Self::JsonPatch(_) => Some("application/json-patch+json"),
        }
    }

    fn body(&self) -> Body {
        match self {
            Self::Nothing => Body::empty(),
            Self::Object(value) | Self::JsonPatch(value) => {
                Body::from(value.to_string().into_bytes())
            }
        }
    }
}

/// What the API server answered.
#[derive(Debug)]
pub(super) struct Exchanged {
    pub(super) status: u16,
    pub(super) body: Bytes,
    /// The time on the API server's clock, to the second.
    pub(super) time: Option<SystemTime>,
}

impl Exchanged {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Cluster {
    /// Sends a request, and reads an answer of at most this size; of a refusal, what is usual for one.
    pub(super) async fn exchange(
        &self,
        (method, uri): (Method, &str),
        sent: Sent<'_>,
        largest: usize,
        time: Duration,
    ) -> Result<Exchanged, Failure> {
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .header(ACCEPT, "application/json");
        if let Some(kind) = sent.content_type() {
            request = request.header(CONTENT_TYPE, kind);
        }
        let request = request.body(sent.body());
        let request = request.map_err(|error| Failure::passing(error.to_string()))?;
        within(time, async {
            let response = self.client.send(request).await?;
            let status = response.status();
            let date = response.headers().get(DATE);
            let time = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
            let body = match status.is_success() {
                true => collect(response.into_body(), largest).await?,
                // What is refused is refused, also if it can't be told why.
                false => collect(response.into_body(), MAX_STATUS)
                    .await
                    .unwrap_or_default(),
            };
            Ok(Exchanged {
                status: status.as_u16(),
                body,
                time,
            })
        })
        .await
    }
}
