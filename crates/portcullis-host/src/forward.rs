//! `forwardToAdmissionController(url, {current}?)`: the answer of another admission controller.

use std::borrow::Cow;
use std::time::Instant;

use portcullis_js::HostRequest;
use portcullis_net::header::{HeaderName, HeaderValue};
use portcullis_net::{Address, HttpResponse};
use serde_json::Value;

use crate::answer::{ReviewKey, shown};
use crate::arguments::{argument, options};
use crate::context::HostContext;
use crate::google::is_google;
use crate::http::{HttpCall, ask};
use crate::target;

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
        Ok(Self {
            key: ReviewKey::of(&review),
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
            path: None,
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
pub(crate) fn along(headers: Vec<(&'static str, String)>) -> Vec<(HeaderName, HeaderValue)> {
    let header = |(name, value)| {
        let value = HeaderValue::try_from(value).ok()?;
        Some((HeaderName::from_static(name), value))
    };
    headers.into_iter().filter_map(header).collect()
}

/// What an answer means.
fn judge(answer: &HttpResponse, key: &ReviewKey) -> Result<Value, String> {
    let response = key.response(answer)?;
    match response.allowed {
        Some(true) => return Ok(Value::Bool(true)),
        Some(false) => {}
        // API servers take it for a denial.
        None => {
            return Err(format!(
                "the answer does not say `allowed`{}",
                shown(answer)
            ));
        }
    }
    let message = response.status.and_then(|status| status.message);
    let message = message.filter(|message| !message.trim().is_empty());
    Ok(Value::String(message.unwrap_or_else(|| SILENT.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::tests::{answer, key, review};
    use serde_json::json;

    fn judged(status: u16, body: &str) -> Result<Value, String> {
        judge(&answer(status, body), &key())
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
