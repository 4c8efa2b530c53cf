//! The list of runners.

use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Pending, Place, Problem};
use crate::badge::Badge;
use crate::frame::Frame;
use crate::listing::Listing;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/runners", show)];

const FILTERS: &[&str] = &["page", "limit"];

/// A runner, without its token: the API does not show it, and nothing else of an answer is kept here.
#[derive(Debug, Deserialize)]
pub(super) struct Runner {
    pub(super) id: u64,
    #[serde(rename = "runner_type")]
    pub(super) kind: String,
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) tag_list: Vec<String>,
    #[serde(default)]
    pub(super) run_untagged: bool,
    pub(super) access_level: String,
    #[serde(default)]
    pub(super) paused: bool,
    #[serde(default)]
    pub(super) locked: bool,
    /// The machines that ask with its token; lists don't have them.
    #[serde(default)]
    pub(super) managers: Vec<Manager>,
}

/// A machine that asks for jobs.
#[derive(Debug, Deserialize)]
pub(super) struct Manager {
    pub(super) system_id: String,
    pub(super) contacted_at: String,
    pub(super) address: Option<String>,
    #[serde(default)]
    pub(super) info: Value,
    pub(super) held_until: Option<String>,
    pub(super) hold: Option<u64>,
}

impl Runner {
    pub(super) fn badge(&self) -> Badge {
        Badge::runner(self.paused)
    }

    /// What it is called.
    pub(super) fn title(&self) -> String {
        match self.description.as_str() {
            "" => format!("Runner {}", self.id),
            description => description.to_owned(),
        }
    }

    /// Whose jobs it takes.
    pub(super) fn scope(&self) -> String {
        let kind = self.kind.trim_end_matches("_type");
        match &self.path {
            Some(path) => format!("{kind} {path}"),
            None => kind.to_owned(),
        }
    }

    /// Where it is managed.
    pub(super) fn place(&self) -> Place<'_> {
        match (self.kind.as_str(), &self.path) {
            ("group_type", Some(path)) => Place::Group(path),
            ("project_type", Some(path)) => Place::Project(path),
            _ => Place::Root,
        }
    }
}

impl Manager {
    /// What it says of itself: its version and where it runs.
    pub(super) fn about(&self) -> String {
        let keys = ["name", "version", "platform", "architecture", "executor"];
        let texts = keys.iter().filter_map(|key| self.info.get(key)?.as_str());
        texts.collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "runners.html")]
struct RunnersPage {
    frame: Frame,
    items: Vec<Runner>,
    next: Option<String>,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(FILTERS)?.capped();
        let path = query.of("/api/v1/runners");
        let listing: Listing<Runner> = request.backend.get(&path).await?;
        page(&RunnersPage {
            frame: request.frame("Runners"),
            next: listing.next_path(&query, "/runners"),
            items: listing.items,
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Fake;

    #[test]
    fn the_list_has_tags_and_no_token() {
        let runner = json!({
            "id": 5, "runner_type": "group_type", "path": "shop", "description": "<i>builder</i>",
            "tag_list": ["linux", "arm"], "access_level": "not_protected", "paused": true,
            "token": "glrt-secret",
        });
        let listing = json!({"items": [runner], "next": 4});
        let fake = Fake::new().with("/api/v1/runners", listing);
        let (status, html) = fake.page("/runners");
        assert_eq!(status, 200);
        assert!(
            html.contains(r#"<a href="/runners/5">&#60;i&#62;builder"#),
            "{html}"
        );
        assert!(html.contains("arm") && html.contains("group shop"));
        assert!(html.contains("paused"));
        assert!(
            html.contains(r#"rel="next" href="/runners?page=4""#),
            "{html}"
        );
        assert!(!html.contains("glrt-"), "{html}");
    }
}
