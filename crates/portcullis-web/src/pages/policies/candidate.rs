//! Another text for a policy.

use serde_json::{Value, json};

use crate::form::lines;
use crate::pages::candidate_report::Since;
use crate::request::Request;

/// What is typed.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) since: Since,
}

impl Draft {
    /// The text in force, to be changed.
    pub(super) fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            since: Since::default(),
        }
    }

    /// What was sent.
    pub(super) fn sent(request: &Request<'_>) -> Self {
        Self {
            text: lines(request.raw_field("text")),
            since: Since::sent(request),
        }
    }

    pub(super) fn body(&self) -> Value {
        json!({"text": self.text, "since": self.since.value()})
    }
}
