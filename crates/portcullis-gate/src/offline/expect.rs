//! What a test case expects, and where the answer differs.

use regex::Regex;
use serde_json::{Value, json};

use super::answer::{Answer, Request};

/// What a case expects. What is not said may be anything.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The verdict.
    pub(super) allowed: bool,
    /// The policy that denies.
    pub(super) policy: Option<String>,
    /// Found in the message.
    pub(super) message: Option<Regex>,
    /// Each found in some warning.
    pub(super) warnings: Vec<Regex>,
    /// The whole object afterwards.
    pub(super) object: Option<Value>,
    /// The whole patch.
    pub(super) patch: Option<Value>,
}

/// One difference between what was expected and what came.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// What differs: a key of `expect`.
    pub what: &'static str,
    /// What was expected.
    pub expected: Value,
    /// What came.
    pub got: Value,
}

impl Expectation {
    /// Where the answer to a request is not as expected; empty if it is.
    pub fn compare(&self, request: &Request, answer: &Answer) -> Vec<Mismatch> {
        let mut found = Vec::new();
        let mut differ = |what, expected: Value, got: Value| {
            found.push(Mismatch {
                what,
                expected,
                got,
            });
        };
        if answer.allowed != self.allowed {
            let why = match answer.allowed {
                true => json!(true),
                false => json!(format!("false: {}", answer.message)),
            };
            differ("allowed", json!(self.allowed), why);
        } else if answer.undecided && self.message.is_none() {
            // A policy that fails denies too, but not for the reason the test is about.
            let got = json!(answer.message);
            differ("allowed", json!("a denial, not a failure"), got);
        }
        if let Some(policy) = &self.policy
            && answer.policy.as_ref() != Some(policy)
        {
            differ("policy", json!(policy), json!(answer.policy));
        }
        if let Some(pattern) = &self.message
            && !pattern.is_match(&answer.message)
        {
            differ("message", json!(pattern.as_str()), json!(answer.message));
        }
        for pattern in &self.warnings {
            if !answer.warnings.iter().any(|w| pattern.is_match(w)) {
                differ("warnings", json!(pattern.as_str()), json!(answer.warnings));
            }
        }
        if let Some(object) = &self.object {
            let completed = request.completed(object).map(|manifest| manifest.object);
            let expected = completed.unwrap_or_else(|_| object.clone());
            if expected != answer.object {
                differ("object", expected, answer.object.clone());
            }
        }
        if let Some(patch) = &self.patch
            && *patch != answer.patch
        {
            differ("patch", patch.clone(), answer.patch.clone());
        }
        found
    }
}
