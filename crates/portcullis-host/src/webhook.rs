//! Another admission controller that is a step of the chain: asked with a review, its answer checked as API servers
//! check webhooks, never asked twice.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::answer::{ReviewKey, ReviewResponse};
use crate::endpoint::Endpoint;
use crate::forward::along;
use crate::text::excerpt;

/// The most warnings, and the most audit annotations, that are taken from one answer.
const MOST_REMARKS: usize = 64;

/// The most characters of a message.
const LONGEST_MESSAGE: usize = 4096;

/// The most characters of a warning or an annotation.
const LONGEST_REMARK: usize = 4096;

/// What another admission controller says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookOpinion {
    /// Whether it has no objection.
    pub allowed: bool,
    /// Why not, in its words.
    pub message: Option<String>,
    /// Why not, in one word.
    pub reason: Option<String>,
    /// The HTTP status of a denial.
    pub code: Option<u16>,
    /// What it would change: the text of a JSON Patch. None on a denial.
    pub patch: Option<Vec<u8>>,
    /// For the person who asked.
    pub warnings: Vec<String>,
    /// For the auditor; keys without a prefix.
    pub annotations: BTreeMap<String, String>,
}

impl Endpoint {
    /// Sends a review, and says what comes of it. `headers` go along.
    ///
    /// # Errors
    ///
    /// Why there is no opinion that counts.
    pub async fn review(
        &self,
        review: &Value,
        may_patch: bool,
        headers: Vec<(&'static str, String)>,
        deadline: Instant,
    ) -> Result<WebhookOpinion, String> {
        let body = serde_json::to_vec(review).map_err(|error| error.to_string())?;
        let answer = self.post(body.into(), along(headers), deadline).await;
        let answer = answer.map_err(|error| {
            // It may repeat what the other end said of itself, such as the names of a certificate.
            format!(
                "{}: {}",
                self.place(),
                excerpt(error.to_string().as_bytes(), 400)
            )
        })?;
        let response = ReviewKey::of(review).response(&answer);
        response
            .and_then(|response| opinion(response, may_patch))
            .map_err(|problem| format!("{}: {problem}", self.place()))
    }
}

/// What a response means, if an API server would take it.
fn opinion(response: ReviewResponse, may_patch: bool) -> Result<WebhookOpinion, String> {
    let patch = patch(&response, may_patch)?;
    let status = response.status.unwrap_or_default();
    let code = match status.code {
        None | Some(Value::Null) => None,
        Some(code) => Some(
            code.as_u64()
                .and_then(|code| u16::try_from(code).ok())
                .ok_or("response.status.code is not a status code")?,
        ),
    };
    let allowed = response.allowed.unwrap_or(false);
    Ok(WebhookOpinion {
        allowed,
        message: status.message.as_deref().map(cut).filter(|m| !m.is_empty()),
        reason: text(status.reason, "status.reason")?.filter(|reason| !reason.is_empty()),
        code,
        patch: patch.filter(|_| allowed),
        warnings: warnings(response.warnings)?,
        annotations: annotations(response.audit_annotations)?,
    })
}

/// The patch, which comes together with its type, and only where it may.
fn patch(response: &ReviewResponse, may_patch: bool) -> Result<Option<Vec<u8>>, String> {
    let is_given = |value: &Option<Value>| {
        !matches!(value, None | Some(Value::Null)) && *value != Some(Value::String(String::new()))
    };
    let (has_patch, has_type) = (
        is_given(&response.patch),
        !matches!(response.patch_type, None | Some(Value::Null)),
    );
    match (has_patch, has_type) {
        (false, false) => return Ok(None),
        (true, _) if !may_patch => {
            return Err("a webhook that validates may not return response.patch".to_owned());
        }
        (_, true) if !may_patch => {
            return Err("a webhook that validates may not return response.patchType".to_owned());
        }
        (true, false) => return Err("response.patch without response.patchType".to_owned()),
        (false, true) => return Err("response.patchType without response.patch".to_owned()),
        (true, true) => {}
    }
    if response.patch_type.as_ref().and_then(Value::as_str) != Some("JSONPatch") {
        return Err("response.patchType is not JSONPatch".to_owned());
    }
    let text = response.patch.as_ref().and_then(Value::as_str);
    let text = text.ok_or("response.patch is not a string")?;
    match STANDARD.decode(text) {
        Ok(patch) => Ok(Some(patch)),
        Err(_) => Err("response.patch is not base64".to_owned()),
    }
}

fn warnings(given: Option<Value>) -> Result<Vec<String>, String> {
    match given {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => {
            let texts = list.into_iter().take(MOST_REMARKS);
            let texts = texts.map(|one| text(Some(one), "warnings").map(Option::unwrap_or_default));
            texts.collect()
        }
        Some(_) => Err("response.warnings is not a list".to_owned()),
    }
}

fn annotations(given: Option<Value>) -> Result<BTreeMap<String, String>, String> {
    match given {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(members)) => {
            // API servers drop the others.
            let members = members.into_iter().filter(|(key, _)| is_annotation(key));
            let read = members.take(MOST_REMARKS).map(|(key, value)| {
                let value = text(Some(value), "auditAnnotations")?;
                Ok((key, value.unwrap_or_default()))
            });
            read.collect()
        }
        Some(_) => Err("response.auditAnnotations is not an object".to_owned()),
    }
}

/// Whether a key can be the last part of an audit annotation's.
pub(crate) fn is_annotation(key: &str) -> bool {
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    (1..=63).contains(&key.len())
        && is_end(key.bytes().next())
        && is_end(key.bytes().last())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn text(value: Option<Value>, what: &str) -> Result<Option<String>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(
            match portcullis_core::text::shortened(&text, LONGEST_REMARK) {
                Cow::Borrowed(_) => text,
                Cow::Owned(short) => short,
            },
        )),
        Some(_) => Err(format!("response.{what}: expected a string")),
    }
}

fn cut(text: &str) -> String {
    portcullis_core::text::shortened(text, LONGEST_MESSAGE).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::answer::tests::{answer, key, review};

    fn said(response: &Value, may_patch: bool) -> Result<WebhookOpinion, String> {
        let mut response = response.clone();
        response["uid"] = json!("u1");
        let answer = answer(200, &review(&response.to_string()));
        opinion(key().response(&answer).unwrap(), may_patch)
    }

    fn base64(text: &str) -> String {
        STANDARD.encode(text)
    }

    #[test]
    fn missing_is_not_allowed() {
        assert!(!said(&json!({}), true).unwrap().allowed);
        assert!(!said(&json!({"allowed": null}), true).unwrap().allowed);
        assert!(said(&json!({"allowed": true}), true).unwrap().allowed);
    }

    #[test]
    fn patch_and_type_come_together_and_only_where_they_may() {
        let patch = base64("[]");
        let good = json!({"allowed": true, "patch": patch, "patchType": "JSONPatch"});
        assert_eq!(said(&good, true).unwrap().patch, Some(b"[]".to_vec()));
        assert!(said(&good, false).unwrap_err().contains("validates"));
        let denied = json!({"allowed": false, "patch": patch, "patchType": "JSONPatch"});
        assert_eq!(said(&denied, true).unwrap().patch, None);
        for bad in [
            json!({"allowed": true, "patch": patch}),
            json!({"allowed": true, "patchType": "JSONPatch"}),
            json!({"allowed": true, "patch": "", "patchType": "JSONPatch"}),
            json!({"allowed": true, "patch": patch, "patchType": "MergePatch"}),
            json!({"allowed": true, "patch": patch, "patchType": ""}),
            json!({"allowed": true, "patch": "%", "patchType": "JSONPatch"}),
            json!({"allowed": true, "patch": [], "patchType": "JSONPatch"}),
        ] {
            assert!(said(&bad, true).is_err(), "{bad}");
        }
        assert!(said(&json!({"allowed": true, "patchType": "JSONPatch"}), false).is_err());
    }

    #[test]
    fn what_is_said_besides() {
        let opinion = said(
            &json!({"allowed": false, "status": {"message": "no", "reason": "Because", "code": 418},
                "warnings": ["w"], "auditAnnotations": {"a": "b", "x/y": "dropped", "": "dropped"}}),
            true,
        );
        let opinion = opinion.unwrap();
        assert_eq!(opinion.message.as_deref(), Some("no"));
        assert_eq!(opinion.reason.as_deref(), Some("Because"));
        assert_eq!(opinion.code, Some(418));
        assert_eq!(opinion.warnings, ["w"]);
        let annotations: Vec<_> = opinion.annotations.into_iter().collect();
        assert_eq!(annotations, [("a".to_owned(), "b".to_owned())]);
        for bad in [
            json!({"allowed": true, "warnings": "w"}),
            json!({"allowed": true, "warnings": [1]}),
            json!({"allowed": true, "auditAnnotations": []}),
            json!({"allowed": true, "auditAnnotations": {"a": 1}}),
            json!({"allowed": false, "status": {"code": "x"}}),
            json!({"allowed": false, "status": {"code": 70000}}),
        ] {
            assert!(said(&bad, true).is_err(), "{bad}");
        }
        let many = vec!["w"; MOST_REMARKS + 1];
        let opinion = said(&json!({"allowed": true, "warnings": many}), true);
        assert_eq!(opinion.unwrap().warnings.len(), MOST_REMARKS);
    }
}
