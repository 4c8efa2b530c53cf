//! The masked input of a decision: enough to replay it.

use std::collections::BTreeMap;

use portcullis_core::vocabulary;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::recorded::Recorded;

/// What was asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    /// The review as it came, byte for byte but for what is masked; none for the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Box<RawValue>>,
    /// What was masked, as JSON pointers from the beginning of `input`, like
    /// `/review/request/object/data/password`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// What was left out because the review is too large, as JSON pointers from the beginning of
    /// `input`; it is null there, or empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<String>,
    /// How it came.
    pub http: Http,
    /// When it came, RFC 3339 with nanoseconds, UTC.
    pub received: String,
    /// Which way in, for admission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// Which chain of authorizers was asked, for authorization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
    /// What the call was about, for the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionInput>,
}

impl Input {
    /// The text of the review; `null` where there is none.
    pub fn review_text(&self) -> &str {
        self.review.as_deref().map_or("null", RawValue::get)
    }
}

/// What a call of the API was about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionInput {
    /// The tenant; none for the root of the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// What conditions were compared with, by name: `project`, `pipeline`, `ref`, `change`, `job`.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// The issuer that vouched for the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The status of the answer.
    pub status: u16,
}

vocabulary! {
    /// The ways in for admission reviews.
    pub enum WebhookName {
        /// Answers may change objects.
        Mutate = "mutate",
        /// Answers change nothing.
        Validate = "validate",
        /// Answers may change objects.
        Admit = "admit",
        /// Any path of a listener in the style of acjs.
        Acjs = "acjs",
    }
}

/// Which way in an admission review took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Its name.
    pub name: Recorded<WebhookName>,
    /// Whether its answers may change objects.
    pub may_patch: bool,
    /// Whether an object that would still be changed is denied there.
    #[serde(default)]
    pub refuses_pending: bool,
}

/// An HTTP request without its body.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http {
    /// The method.
    pub method: String,
    /// Path and query, as sent; for the API the path alone.
    pub uri: String,
    /// Headers, names in lower case, in the order sent; for the API none are kept.
    pub headers: Vec<(String, String)>,
    /// The network address of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The caller on a unix socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix: Option<Unix>,
    /// The caller's verified certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

/// A process on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unix {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Process id, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
}

/// A verified client certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// The whole subject.
    pub subject: String,
    /// Common name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_name: Option<String>,
    /// Organizations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organizations: Vec<String>,
    /// The certificates as sent, DER in base64, the client's own first.
    pub chain: Vec<String>,
}
