//! What was requested, and by whom, according to the review.

use portcullis_core::Door;
use portcullis_record::{Decision, Summary};
use serde_json::Value;

use crate::commands::decisions::action;
use crate::commands::text::plain::shortened;

/// How many groups are named.
const GROUPS: usize = 20;

/// The review, as far as it can be read.
#[derive(Debug)]
pub(super) struct Subject {
    review: Value,
    is_access: bool,
}

impl Subject {
    pub(super) fn of(decision: &Decision) -> Self {
        let review = serde_json::from_str(decision.input.review_text());
        Self {
            review: review.unwrap_or_default(),
            is_access: decision.summary.door == Door::Authorization,
        }
    }

    fn at(&self, pointer: &str) -> &Value {
        self.review.pointer(pointer).unwrap_or(&Value::Null)
    }

    fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_default()
    }

    /// The object before any change.
    pub(super) fn object(&self) -> &Value {
        self.at("/request/object")
    }

    /// `AdmissionReview of admission.k8s.io/v1, uid 12`.
    pub(super) fn review(&self) -> String {
        let mut text = match (self.text("/kind"), self.text("/apiVersion")) {
            ("", _) => "a review".to_owned(),
            (kind, "") => kind.to_owned(),
            (kind, version) => format!("{kind} of {version}"),
        };
        let uid = self.text("/request/uid");
        if !uid.is_empty() {
            text.push_str(&format!(", uid {}", shortened(uid, 100)));
        }
        text
    }

    /// The user and the groups.
    pub(super) fn who(&self, user: &str) -> String {
        let groups = match self.is_access {
            true => self.at("/spec/groups"),
            false => self.at("/request/userInfo/groups"),
        };
        let all = groups.as_array().map(Vec::as_slice).unwrap_or_default();
        let user = if user.is_empty() {
            "(no user name)"
        } else {
            user
        };
        if all.is_empty() {
            return format!("{user}, in no group");
        }
        let named: Vec<&str> = all.iter().take(GROUPS).filter_map(Value::as_str).collect();
        let more = match all.len() - named.len() {
            0 => String::new(),
            more => format!(" ... {more} more"),
        };
        let word = if all.len() == 1 { "group" } else { "groups" };
        format!("{user}, {word} {}{more}", named.join(", "))
    }

    /// What is about to happen, and to what.
    pub(super) fn what(&self, summary: &Summary) -> String {
        match self.is_access {
            true => self.access().unwrap_or_else(|| action(summary)),
            false => self.admission(summary),
        }
    }

    fn admission(&self, summary: &Summary) -> String {
        let mut text = action(summary);
        let version = match (
            self.text("/request/kind/group"),
            self.text("/request/kind/version"),
        ) {
            (_, "") => String::new(),
            ("", version) => version.to_owned(),
            (group, version) => format!("{group}/{version}"),
        };
        if !version.is_empty() {
            text.push_str(&format!(" ({version})"));
        }
        let part = self.text("/request/subResource");
        if !part.is_empty() {
            text.push_str(&format!(", its part `{part}`"));
        }
        if self.at("/request/dryRun") == true {
            text.push_str(", dry run: nothing is stored");
        }
        text
    }

    /// `get deployments.apps/scale pay/api`.
    fn access(&self) -> Option<String> {
        let paths = self.at("/spec/nonResourceAttributes");
        if let Some(path) = paths.get("path").and_then(Value::as_str) {
            let verb = paths
                .get("verb")
                .and_then(Value::as_str)
                .unwrap_or_default();
            return Some(format!("{verb} {path}"));
        }
        let resource = self.at("/spec/resourceAttributes");
        let get = |key: &str| {
            resource
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        if get("resource").is_empty() {
            return None;
        }
        let mut text = format!("{} {}", get("verb"), get("resource"));
        for (sign, key) in [(".", "group"), ("/", "subresource")] {
            if !get(key).is_empty() {
                text.push_str(&format!("{sign}{}", get(key)));
            }
        }
        match (get("namespace"), get("name")) {
            ("", "") => text.push_str(", in all namespaces or without one"),
            ("", name) => text.push_str(&format!(" {name}")),
            (namespace, "") => text.push_str(&format!(", all in {namespace}")),
            (namespace, name) => text.push_str(&format!(" {namespace}/{name}")),
        }
        for (key, name) in [("fieldSelector", "field"), ("labelSelector", "label")] {
            if let Some(selector) = resource.get(key) {
                let selector = selector.to_string();
                text.push_str(&format!(", {name} selector {}", shortened(&selector, 200)));
            }
        }
        Some(text)
    }
}
