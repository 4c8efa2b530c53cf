//! `forwardToAdmissionController(url, {current}?)`: the answer of another admission controller.

use std::borrow::Cow;
use std::time::Instant;

use portcullis_js::HostRequest;
use portcullis_net::header::{HeaderName, HeaderValue};
use portcullis_net::{Address, HttpResponse};
use serde::Deserialize;
use serde_json::Value;

use crate::arguments::{argument, options};
use crate::context::HostContext;
use crate::google::is_google;
use crate::http::{HttpCall, ask};
use crate::target;
use crate::text::excerpt;

/// The most of a foreign answer that a message repeats.
const SHOWN: usize = 200;

/// What is said where the other controller says nothing.
const SILENT: &str = "request denied by the other admission controller";

/// A call of `forwardToAdmissionController`.
#[derive(Debug)]
pub(crate) struct Forward {
    target: Address,
    review: Vec<u8>,
    key: ReviewKey,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// What the answer must repeat of the question.
#[derive(Debug, Default)]
struct ReviewKey {
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
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    uid: Option<String>,
    allowed: bool,
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Status {
    message: Option<String>,
}

impl Forward {
    /// Reads the arguments and writes the review.
    pub(crate) fn prepare(
        request: &HostRequest<'_>,
        context: &HostContext,
    ) -> Result<Self, String> {
        let Some(address) = argument(request, 0).as_str() else {
            return Err("the address to forward to must be text".to_owned());
        };
        let target = target::parse(address)?;
        context.allowed.check(&target)?;
        let [current] = options(argument(request, 1), ["current"])?;
        let object = match current {
            Value::Null | Value::Bool(false) => Cow::Owned(request.original.to_value()),
            Value::Bool(true) => Cow::Borrowed(request.object),
            _ => return Err("the option current must be true or false".to_owned()),
        };
        let review = request.subject.review(&object);
        let review = review.ok_or_else(|| "there is nothing to forward".to_owned())?;
        let text = |path| review.pointer(path).and_then(Value::as_str);
        let text = |path| text(path).unwrap_or_default().to_owned();
        let key = ReviewKey {
            version: text("/apiVersion"),
            uid: text("/request/uid"),
        };
        Ok(Self {
            key,
            headers: along(request.subject.headers()),
            review: serde_json::to_vec(&review).map_err(|e| format!("nothing to forward: {e}"))?,
            target,
        })
    }

    /// True, or what the other controller says against it.
    pub(crate) async fn run(
        self,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<Value, String> {
        let place = self.target.origin();
        let mut headers = self.headers;
        if let Address::Web(web) = &self.target
            && is_google(web)
        {
            headers.push(context.tokens.header(deadline).await?);
        }
        let answer = ask(HttpCall {
            address: self.target,
            trust: &context.forward_trust,
            body: Some(self.review.into()),
            headers,
            limit: context.settings.body_limit,
            deadline,
        })
        .await?;
        judge(&answer, &self.key).map_err(|problem| format!("{place}: {problem}"))
    }
}

/// Headers that go along; what can't be a header doesn't.
fn along(headers: Vec<(&'static str, String)>) -> Vec<(HeaderName, HeaderValue)> {
    let header = |(name, value)| {
        let value = HeaderValue::try_from(value).ok()?;
        Some((HeaderName::from_static(name), value))
    };
    headers.into_iter().filter_map(header).collect()
}

/// What an answer means.
fn judge(answer: &HttpResponse, key: &ReviewKey) -> Result<Value, String> {
    let status = answer.status;
    let shown = || match excerpt(&answer.body, SHOWN) {
        text if text.is_empty() => text,
        text => format!(": {text}"),
    };
    if status.is_redirection() {
        return Err(format!(
            "status {}, and redirects are not followed",
            status.as_u16()
        ));
    }
    if !status.is_success() {
        return Err(format!("status {}{}", status.as_u16(), shown()));
    }
    let review: Review = serde_json::from_slice(&answer.body)
        .map_err(|_| format!("the answer is not an AdmissionReview{}", shown()))?;
    // The same that API servers ask of webhooks.
    if review.kind != "AdmissionReview" || review.api_version != key.version {
        let version = &key.version;
        return Err(format!(
            "the answer is not an AdmissionReview of apiVersion {version}{}",
            shown()
        ));
    }
    let Some(response) = review.response else {
        return Err(format!("the answer holds no response{}", shown()));
    };
    if response.uid.as_deref() != Some(key.uid.as_str()) {
        return Err("the answer is about another request: its response.uid differs".to_owned());
    }
    if response.allowed {
        return Ok(Value::Bool(true));
    }
    let message = response.status.and_then(|status| status.message);
    let message = message.filter(|message| !message.trim().is_empty());
    Ok(Value::String(message.unwrap_or_else(|| SILENT.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use portcullis_net::StatusCode;
    use portcullis_net::header::HeaderMap;
    use serde_json::json;

    fn judged(status: u16, body: &str) -> Result<Value, String> {
        let answer = HttpResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: Bytes::from(body.to_owned()),
            trailers: HeaderMap::new(),
        };
        let key = ReviewKey {
            version: "admission.k8s.io/v1".to_owned(),
            uid: "u1".to_owned(),
        };
        judge(&answer, &key)
    }

    /// A review with this response.
    fn review(response: &str) -> String {
        format!(
            r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{response}}}"#
        )
    }

    #[test]
    fn opinions() {
        for yes in [
            r#"{"uid":"u1","allowed":true,"patch":"x"}"#,
            r#"{"uid":"u1","allowed":true,"status":null}"#,
        ] {
            assert_eq!(judged(200, &review(yes)), Ok(json!(true)), "{yes}");
            assert_eq!(judged(201, &review(yes)), Ok(json!(true)), "{yes}");
        }
        let no = r#"{"uid":"u1","allowed":false,"status":{"message":"ext no","code":403}}"#;
        assert_eq!(judged(200, &review(no)), Ok(json!("ext no")));
        for silent in [
            r#"{"uid":"u1","allowed":false}"#,
            r#"{"uid":"u1","allowed":false,"status":{}}"#,
            r#"{"uid":"u1","allowed":false,"status":{"message":""}}"#,
            r#"{"uid":"u1","allowed":false,"status":{"message":" "}}"#,
        ] {
            assert_eq!(judged(200, &review(silent)), Ok(json!(SILENT)), "{silent}");
        }
    }

    #[test]
    fn no_opinion() {
        let yes = review(r#"{"uid":"u1","allowed":true}"#);
        for status in [302, 403, 500] {
            assert!(judged(status, &yes).is_err(), "{status}");
        }
        for response in [
            "null",
            "{}",
            r#"{"allowed":true}"#,
            r#"{"uid":"","allowed":true}"#,
            r#"{"uid":null,"allowed":true}"#,
            r#"{"uid":"u1","allowed":"true"}"#,
            r#"{"uid":"u1","allowed":1}"#,
            r#"{"uid":"u1","allowed":null}"#,
            r#"{"uid":"u1","allowed":false,"allowed":true}"#,
            r#"{"uid":"u2","allowed":true}"#,
            r#"{"uid":7,"allowed":true}"#,
        ] {
            assert!(judged(200, &review(response)).is_err(), "{response}");
        }
        let other_kind = yes.replace("AdmissionReview", "SubjectAccessReview");
        let other_version = yes.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
        let bare = r#"{"response":{"uid":"u1","allowed":true}}"#;
        let (after, cut) = (format!("{yes} x"), yes.trim_end_matches('}'));
        for body in [
            "",
            "null",
            "[]",
            "{}",
            bare,
            &other_kind,
            &other_version,
            &after,
            cut,
        ] {
            assert!(judged(200, body).is_err(), "{body}");
        }
    }

    #[test]
    fn little_of_an_answer_is_repeated() {
        let message = judged(500, &"x\n".repeat(10_000)).unwrap_err();
        assert!(message.starts_with("status 500: x x"), "{message}");
        assert!(message.chars().count() < 250, "{message}");
    }
}
