//! What another admission controller answers to a review, checked the way API servers check it.

use portcullis_net::HttpResponse;
use serde::Deserialize;
use serde_json::Value;

use crate::text::excerpt;

/// The most of a foreign answer that a message repeats.
const SHOWN: usize = 200;

/// What the answer must repeat of the question.
#[derive(Debug, Default)]
pub(crate) struct ReviewKey {
    version: String,
    uid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    response: Option<ReviewResponse>,
}

/// A response to a review; everything beyond the opinion is as it was written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReviewResponse {
    uid: Option<String>,
    pub(crate) allowed: Option<bool>,
    pub(crate) status: Option<ResponseStatus>,
    pub(crate) patch: Option<Value>,
    pub(crate) patch_type: Option<Value>,
    pub(crate) warnings: Option<Value>,
    pub(crate) audit_annotations: Option<Value>,
}

/// The status of a response.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ResponseStatus {
    pub(crate) message: Option<String>,
    pub(crate) reason: Option<Value>,
    pub(crate) code: Option<Value>,
}

impl ReviewKey {
    /// Of this review.
    pub(crate) fn of(review: &Value) -> Self {
        let text = |path| review.pointer(path).and_then(Value::as_str);
        let text = |path| text(path).unwrap_or_default().to_owned();
        Self {
            version: text("/apiVersion"),
            uid: text("/request/uid"),
        }
    }

    /// The response, if the answer has one to this review.
    pub(crate) fn response(&self, answer: &HttpResponse) -> Result<ReviewResponse, String> {
        check_status(answer)?;
        let review: Review = serde_json::from_slice(&answer.body)
            .map_err(|_| format!("the answer is not an AdmissionReview{}", shown(answer)))?;
        if review.kind != "AdmissionReview" || review.api_version != self.version {
            let version = &self.version;
            return Err(format!(
                "the answer is not an AdmissionReview of apiVersion {version}{}",
                shown(answer)
            ));
        }
        let Some(response) = review.response else {
            return Err(format!("the answer holds no response{}", shown(answer)));
        };
        if response.uid.as_deref() != Some(self.uid.as_str()) {
            return Err("the answer is about another request: its response.uid differs".to_owned());
        }
        Ok(response)
    }
}

/// Whether the status is one of success.
pub(crate) fn check_status(answer: &HttpResponse) -> Result<(), String> {
    let status = answer.status;
    if status.is_redirection() {
        return Err(format!(
            "status {}, and redirects are not followed",
            status.as_u16()
        ));
    }
    if !status.is_success() {
        return Err(format!("status {}{}", status.as_u16(), shown(answer)));
    }
    Ok(())
}

/// The beginning of an answer, for messages.
pub(crate) fn shown(answer: &HttpResponse) -> String {
    match excerpt(&answer.body, SHOWN) {
        text if text.is_empty() => text,
        text => format!(": {text}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bytes::Bytes;
    use portcullis_net::StatusCode;
    use portcullis_net::header::HeaderMap;
    use serde_json::json;

    use super::*;

    /// An answer with this status and body.
    pub(crate) fn answer(status: u16, body: &str) -> HttpResponse {
        HttpResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: Bytes::from(body.to_owned()),
            trailers: HeaderMap::new(),
        }
    }

    /// The key of a review of uid `u1`.
    pub(crate) fn key() -> ReviewKey {
        ReviewKey::of(&json!({"apiVersion": "admission.k8s.io/v1", "request": {"uid": "u1"}}))
    }

    /// A review with this response.
    pub(crate) fn review(response: &str) -> String {
        format!(
            r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{response}}}"#
        )
    }

    #[test]
    fn only_an_answer_to_this_review_is_one() {
        let yes = review(r#"{"uid":"u1","allowed":true}"#);
        assert!(key().response(&answer(200, &yes)).is_ok());
        assert!(key().response(&answer(302, &yes)).is_err());
        assert!(key().response(&answer(500, &yes)).is_err());
        let other = review(r#"{"uid":"u2","allowed":true}"#);
        assert!(key().response(&answer(200, &other)).is_err());
        let other = yes.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
        assert!(key().response(&answer(200, &other)).is_err());
    }
}
