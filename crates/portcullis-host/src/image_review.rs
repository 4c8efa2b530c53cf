//! A backend of image policies: asked with an `ImageReview`, again after a pause where it may have been a passing
//! trouble, as API servers ask it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use portcullis_core::clock;
use portcullis_net::header::RETRY_AFTER;
use portcullis_net::{HttpResponse, spread};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::answer::shown;
use crate::endpoint::{Endpoint, EndpointError};
use crate::text::excerpt;
use crate::webhook::is_annotation;

const API_VERSION: &str = "imagepolicy.k8s.io/v1alpha1";
const KIND: &str = "ImageReview";

/// How often a backend is asked at most.
const ATTEMPTS: u32 = 5;

/// The longest one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(30);

/// The most audit annotations that are taken from one answer.
const MOST_ANNOTATIONS: usize = 64;

/// What a backend says of the images.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageReviewStatus {
    /// Whether all of them may run.
    pub allowed: bool,
    /// Why not.
    #[serde(deserialize_with = "null_as_default")]
    pub reason: String,
    /// For the auditor; keys without a prefix.
    #[serde(deserialize_with = "null_as_default")]
    pub audit_annotations: BTreeMap<String, String>,
}

/// API servers take what doesn't say what it is for an `ImageReview`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ImageReview {
    api_version: String,
    kind: String,
    #[serde(deserialize_with = "status")]
    status: ImageReviewStatus,
}

impl Default for ImageReview {
    fn default() -> Self {
        Self {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            status: ImageReviewStatus::default(),
        }
    }
}

fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// An object or nothing: a list would be read as the members in their order, and `[true]` as a yes.
fn status<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<ImageReviewStatus, D::Error> {
    let text: Option<Box<RawValue>> = Option::deserialize(deserializer)?;
    let Some(text) = text else {
        return Ok(ImageReviewStatus::default());
    };
    if !text.get().starts_with('{') {
        return Err(D::Error::custom("the status is not an object"));
    }
    serde_json::from_str(text.get()).map_err(D::Error::custom)
}

/// Why an attempt failed.
struct Failed {
    words: String,
    /// Whether it may be a passing trouble.
    is_passing: bool,
}

impl Endpoint {
    /// Asks about images, up to five times, with pauses from `pause` on.
    ///
    /// # Errors
    ///
    /// Why there is no answer; where it was.
    pub async fn image_review(
        &self,
        spec: &Value,
        pause: Duration,
        deadline: Instant,
    ) -> Result<ImageReviewStatus, String> {
        let review = json!({"apiVersion": API_VERSION, "kind": KIND, "spec": spec});
        let review = serde_json::to_vec(&review).map_err(|error| error.to_string())?;
        let review = Bytes::from(review);
        let mut pause = pause;
        let mut attempt = 1;
        loop {
            let failed = match self.attempt(&review, deadline).await {
                Ok(status) => return Ok(status),
                Err(failed) => failed,
            };
            let left = deadline.saturating_duration_since(clock::monotonic());
            // Up to a fifth longer, so that clients that failed together don't come back together.
            let rest = pause + spread(pause).saturating_sub(pause / 2) * 2 / 5;
            if !failed.is_passing || attempt == ATTEMPTS || rest >= left {
                return Err(format!("{}: {}", self.place(), failed.words));
            }
            tokio::time::sleep(rest).await;
            pause = pause * 3 / 2;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        review: &Bytes,
        deadline: Instant,
    ) -> Result<ImageReviewStatus, Failed> {
        let latest = clock::monotonic().checked_add(ATTEMPT);
        let deadline = latest.map_or(deadline, |latest| latest.min(deadline));
        let answer = self.post(review.clone(), Vec::new(), deadline).await;
        let answer = answer.map_err(|error| Failed {
            is_passing: matches!(&error, EndpointError::Exchange(error) if error.is_reset()),
            words: excerpt(error.to_string().as_bytes(), 400),
        })?;
        read(&answer)
    }
}

/// What an answer means.
fn read(answer: &HttpResponse) -> Result<ImageReviewStatus, Failed> {
    let status = answer.status;
    if !status.is_success() {
        let is_passing =
            matches!(status.as_u16(), 429 | 500 | 504) || answer.headers.contains_key(RETRY_AFTER);
        let words = format!("status {}{}", status.as_u16(), shown(answer));
        return Err(Failed { words, is_passing });
    }
    // A list would be read as the members in their order.
    let body = Some(&answer.body).filter(|body| body.trim_ascii_start().starts_with(b"{"));
    let review: Option<ImageReview> = body.and_then(|body| serde_json::from_slice(body).ok());
    let review = review.filter(|review| review.api_version == API_VERSION && review.kind == KIND);
    let review = review.ok_or_else(|| Failed {
        words: format!(
            "the answer is not an {KIND} of apiVersion {API_VERSION}{}",
            shown(answer)
        ),
        is_passing: false,
    })?;
    let mut status = review.status;
    let annotations = std::mem::take(&mut status.audit_annotations);
    let annotations = annotations
        .into_iter()
        .filter(|(key, _)| is_annotation(key));
    status.audit_annotations = annotations.take(MOST_ANNOTATIONS).collect();
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::tests::answer;

    fn said(status: u16, body: &str) -> Result<ImageReviewStatus, bool> {
        read(&answer(status, body)).map_err(|failed| failed.is_passing)
    }

    fn review(status: &str) -> String {
        format!(r#"{{"apiVersion":"{API_VERSION}","kind":"{KIND}","status":{status}}}"#)
    }

    #[test]
    fn only_an_image_review_is_an_answer() {
        let yes = ImageReviewStatus {
            allowed: true,
            ..ImageReviewStatus::default()
        };
        assert_eq!(said(200, &review(r#"{"allowed":true}"#)), Ok(yes.clone()));
        assert_eq!(said(201, &review(r#"{"allowed":true}"#)), Ok(yes.clone()));
        assert_eq!(said(200, r#"{"status":{"allowed":true}}"#), Ok(yes));
        for no in ["{}", "null", r#"{"allowed":false,"reason":null}"#] {
            let status = ImageReviewStatus::default();
            assert_eq!(said(200, &review(no)), Ok(status), "{no}");
        }
        assert_eq!(said(200, "{}"), Ok(ImageReviewStatus::default()));
        for bad in [
            "",
            "[]",
            "null",
            r#"{"apiVersion":"imagepolicy.k8s.io/v1","kind":"ImageReview","status":{"allowed":true}}"#,
            r#"{"apiVersion":"imagepolicy.k8s.io/v1alpha1","kind":"Review","status":{"allowed":true}}"#,
            &review("[true]"),
            &review("true"),
            &review(r#"{"allowed":"true"}"#),
            &review(r#"{"allowed":true,"allowed":true}"#),
        ] {
            assert_eq!(said(200, bad), Err(false), "{bad}");
        }
    }

    #[test]
    fn some_statuses_are_a_passing_trouble() {
        for (status, is_passing) in [
            (429, true),
            (500, true),
            (504, true),
            (400, false),
            (403, false),
            (503, false),
            (302, false),
        ] {
            assert_eq!(said(status, "x"), Err(is_passing), "{status}");
        }
        let mut busy = answer(503, "x");
        busy.headers.insert(RETRY_AFTER, "1".parse().unwrap());
        assert!(read(&busy).is_err_and(|failed| failed.is_passing));
    }
}
