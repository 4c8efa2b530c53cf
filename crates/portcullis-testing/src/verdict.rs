//! The answer to an admission review, checked for what every answer must have.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::{Answer, Review};

/// The `response` of an answered review.
#[derive(Debug)]
pub struct Verdict(pub Value);

impl Verdict {
    /// Asserts what every answer must have: the version, the uid, a patch only with its type, and
    /// none with a denial.
    #[track_caller]
    pub fn of(answer: &Answer, review: &Review) -> Self {
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answer = answer.json();
        assert_eq!(answer["apiVersion"], review.value()["apiVersion"]);
        assert_eq!(answer["kind"], "AdmissionReview");
        let response = answer["response"].clone();
        assert_eq!(&response["uid"], review.uid());
        assert!(response["allowed"].is_boolean(), "{answer}");
        assert_eq!(
            response.get("patch").is_some(),
            response.get("patchType").is_some(),
            "{answer}"
        );
        assert!(
            response["allowed"] == true || response.get("patch").is_none(),
            "{answer}"
        );
        Self(response)
    }

    /// Whether the object is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.0["allowed"] == true
    }

    /// Why it is not; empty if nothing is said.
    #[must_use]
    pub fn message(&self) -> &str {
        self.0["status"]["message"].as_str().unwrap_or_default()
    }

    /// Asserts that the object is allowed.
    #[track_caller]
    pub fn allowed(&self) {
        assert!(self.is_allowed(), "refused: {}", self.message());
    }

    /// Asserts a denial whose message holds this.
    #[track_caller]
    pub fn denied(&self, needle: &str) {
        assert!(!self.is_allowed(), "allowed");
        assert!(
            !self.message().trim().is_empty(),
            "refused without a message"
        );
        assert!(
            self.message().contains(needle),
            "`{needle}` is not in: {}",
            self.message()
        );
    }

    /// The patch, if there is one.
    #[must_use]
    pub fn patch(&self) -> Option<Value> {
        let text = self.0.get("patch")?.as_str().unwrap();
        assert_eq!(self.0["patchType"], "JSONPatch");
        Some(serde_json::from_slice(&STANDARD.decode(text).unwrap()).unwrap())
    }

    /// The object with the patch applied.
    #[track_caller]
    #[must_use]
    pub fn patched(&self, object: &Value) -> Value {
        match self.patch() {
            None => object.clone(),
            Some(operations) => {
                let patch: json_patch::Patch = serde_json::from_value(operations).unwrap();
                let mut object = object.clone();
                json_patch::patch(&mut object, &patch).unwrap();
                object
            }
        }
    }

    /// The audit annotation of this name.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.0["auditAnnotations"].get(key)?.as_str()
    }

    /// The warnings.
    #[must_use]
    pub fn warnings(&self) -> Vec<&str> {
        let all = self.0["warnings"].as_array().map_or(&[][..], Vec::as_slice);
        all.iter()
            .map(|warning| warning.as_str().unwrap())
            .collect()
    }
}
