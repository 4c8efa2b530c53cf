//! What other policies would have changed in recorded decisions, as the API tells it.

use serde::Deserialize;

use crate::request::Request;

/// How far back one may look, the default second.
const SINCE: [(&str, &str); 3] = [("1h", "1 hour"), ("24h", "24 hours"), ("7d", "7 days")];
const DEFAULT: &str = "24h";

/// How far back one looks.
#[derive(Debug)]
pub(super) struct Since(String);

impl Default for Since {
    fn default() -> Self {
        Self(DEFAULT.to_owned())
    }
}

impl Since {
    /// What was sent.
    pub(super) fn sent(request: &Request<'_>) -> Self {
        Self(request.field("since").to_owned())
    }

    /// As the API takes it.
    pub(super) fn value(&self) -> &str {
        &self.0
    }

    /// Value, label, and whether it is chosen.
    pub(super) fn choices(&self) -> [(&'static str, &'static str, bool); 3] {
        SINCE.map(|(value, label)| (value, label, value == self.0))
    }
}

/// What would change.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub(super) looked_at: u64,
    pub(super) is_complete: bool,
    summary: Option<Summary>,
    changes: Option<Vec<Group>>,
    unknown: Option<Vec<Unclear>>,
    pub(super) faults: Vec<Fault>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    same: u64,
    newly_denied: u64,
    newly_allowed: u64,
    patch_differs: u64,
    unknown: u64,
    failed: u64,
}

/// Changes of one kind by one policy.
#[derive(Debug, Deserialize)]
pub(super) struct Group {
    change: String,
    pub(super) by: String,
    pub(super) count: u64,
    pub(super) examples: Vec<Example>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Example {
    pub(super) id: String,
    operation: String,
    kind: String,
    namespace: String,
    name: String,
    user: String,
    was: Answer,
    now: Answer,
}

#[derive(Debug, Deserialize)]
struct Answer {
    message: String,
}

/// Decisions of which nothing can be told, for one reason.
#[derive(Debug, Deserialize)]
pub(super) struct Unclear {
    pub(super) reason: String,
    pub(super) count: u64,
    pub(super) ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Fault {
    /// The policy or file, where there are several.
    pub(super) source: Option<String>,
    pub(super) message: String,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
}

impl Report {
    /// The counts, each with its name.
    pub(super) fn counts(&self) -> [(&'static str, u64); 6] {
        let one = self.summary.clone().unwrap_or_default();
        [
            ("same", one.same),
            ("newly denied", one.newly_denied),
            ("newly allowed", one.newly_allowed),
            ("patch differs", one.patch_differs),
            ("unclear", one.unknown),
            ("failed", one.failed),
        ]
    }

    pub(super) fn groups(&self) -> &[Group] {
        self.changes.as_deref().unwrap_or_default()
    }

    pub(super) fn reasons(&self) -> &[Unclear] {
        self.unknown.as_deref().unwrap_or_default()
    }
}

impl Group {
    /// How the answers change, and because of what.
    pub(super) fn words(&self) -> String {
        let by = &self.by;
        match self.change.as_str() {
            "newlyDenied" => format!("would now be denied by {by}"),
            "newlyAllowed" => format!("would now be allowed (previously denied by {by})"),
            _ => format!("would now be changed otherwise by {by}"),
        }
    }
}

impl Example {
    /// What was asked.
    pub(super) fn what(&self) -> String {
        let place = match self.namespace.as_str() {
            "" => self.name.clone(),
            namespace => format!("{namespace}/{}", self.name),
        };
        format!("{} {} {place} by {}", self.operation, self.kind, self.user)
    }

    /// Why it is denied, now or then.
    pub(super) fn why(&self) -> &str {
        match self.now.message.as_str() {
            "" => &self.was.message,
            now => now,
        }
    }
}
