//! The list of decisions, with its filters.

use serde::Deserialize;

use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::query::Query;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/decisions", show)];

/// What the list takes, under the names of the REST API.
const FILTERS: &[&str] = &[
    "verdict",
    "door",
    "user",
    "kind",
    "namespace",
    "policy",
    "since",
    "until",
    "after",
    "limit",
];

/// Filters that are typed.
const TEXTS: &[&str] = &["user", "kind", "namespace", "policy", "since", "until"];

/// The doors that decide.
const DOORS: &[&str] = &["kubernetes", "authorization", "ci", "api"];

/// A decision as lists have it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Summary {
    pub(crate) id: String,
    pub(crate) time: String,
    pub(crate) door: String,
    pub(crate) operation: String,
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) verdict: String,
    pub(crate) mutated: bool,
    pub(crate) message: String,
    pub(crate) plugin: Option<String>,
    pub(crate) policy: Option<String>,
    pub(crate) digest: Option<String>,
    /// The digest of the whole configuration.
    #[serde(default)]
    pub(crate) gate: Option<String>,
    pub(crate) duration_us: u64,
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
}

impl Summary {
    /// Namespace and name of what it is about.
    pub(crate) fn place(&self) -> String {
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", name) => name.to_owned(),
            (namespace, "") => namespace.to_owned(),
            (namespace, name) => format!("{namespace}/{name}"),
        }
    }

    /// What decided.
    pub(crate) fn by(&self) -> &str {
        let by = self.policy.as_deref().or(self.plugin.as_deref());
        by.unwrap_or_default()
    }
}

/// A page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct Listed {
    pub(crate) items: Vec<Summary>,
    pub(crate) next: Option<String>,
}

#[derive(Debug, askama::Template)]
#[template(path = "decisions.html")]
struct DecisionsPage {
    frame: Frame,
    query: Query,
    doors: &'static [&'static str],
    texts: &'static [&'static str],
    items: Vec<Summary>,
    next: Option<String>,
    /// What tells of new decisions that belong on this page.
    stream: String,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(FILTERS)?;
        let query = capped(&query);
        let listed: Listed = request.backend.get(&query.of("/api/v1/decisions")).await?;
        let next = listed.next;
        // New decisions come on the first page.
        let is_first = query.get("after").is_empty();
        page(&DecisionsPage {
            frame: request.frame("Decisions").live_if(is_first),
            stream: query.with("limit", "").of("/api/v1/decisions/stream"),
            next: next.map(|next| query.with("after", &next).of("/decisions")),
            query,
            doors: DOORS,
            texts: TEXTS,
            items: listed.items,
        })
    })
}

/// A page is no longer than the API allows.
fn capped(query: &Query) -> Query {
    match query.get("limit").parse::<u64>() {
        Ok(limit) if limit > 1000 => query.with("limit", "1000"),
        _ => query.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::script::Script;
    use crate::testing::Fake;

    #[test]
    fn only_the_first_page_follows_what_is_new_with_its_filters() {
        let empty = || json!({"items": [], "next": null});
        let fake = Fake::new()
            .with("/api/v1/decisions?verdict=deny&limit=5", empty())
            .with("/api/v1/decisions?verdict=deny&after=01A", empty());
        let html = fake.page_with("/decisions?verdict=deny&limit=5", 200);
        let stream = r#"data-live-stream="/api/v1/decisions/stream?verdict=deny""#;
        let is_built = crate::assets::script_path(Script::Live).is_some();
        assert_eq!(html.contains(stream), is_built, "{html}");
        assert_eq!(html.contains("without live updates"), !is_built, "{html}");
        let html = fake.page_with("/decisions?verdict=deny&after=01A", 200);
        assert!(!html.contains("data-live-stream"), "{html}");
        assert!(!html.contains("live updates"), "{html}");
    }
}
