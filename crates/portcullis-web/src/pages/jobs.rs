//! The list of CI jobs, with its filters.

use serde::Deserialize;

use crate::backend::{Pending, Problem};
use crate::badge::Badge;
use crate::frame::Frame;
use crate::listing::Listing;
use crate::query::Query;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/jobs", show)];

/// What the list takes, under the names of the REST API.
const FILTERS: &[&str] = &["status", "project", "tenant", "page", "limit"];

/// The states of jobs, in the order in which a job has them.
const STATUSES: &[&str] = &[
    "created",
    "preparing",
    "pending",
    "running",
    "success",
    "failed",
    "canceled",
    "skipped",
];

/// A job as lists have it.
#[derive(Debug, Deserialize)]
struct Row {
    id: u64,
    project: String,
    name: String,
    #[serde(rename = "ref")]
    git_ref: String,
    status: String,
    failure_reason: Option<String>,
    allowed_to_fail: bool,
    tags: Vec<String>,
    user: User,
    created_at: String,
    stuck_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct User {
    username: String,
}

impl Row {
    fn badge(&self) -> Badge {
        Badge::job(&self.status)
    }

    /// What the status does not say.
    fn note(&self) -> String {
        let failure = self.failure_reason.as_deref();
        let reason = failure.or(self.stuck_reason.as_deref());
        let reason = reason.unwrap_or_default().replace('_', " ");
        match self.allowed_to_fail {
            true => format!("{reason} (allowed to fail)"),
            false => reason,
        }
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "jobs.html")]
struct JobsPage {
    frame: Frame,
    query: Query,
    statuses: &'static [&'static str],
    items: Vec<Row>,
    next: Option<String>,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(FILTERS)?.capped();
        let listing: Listing<Row> = request.backend.get(&query.of("/api/v1/jobs")).await?;
        page(&JobsPage {
            // New jobs come on the first page.
            frame: request.frame("Jobs").live_if(query.get("page").is_empty()),
            next: listing.next_path(&query, "/jobs"),
            query,
            statuses: STATUSES,
            items: listing.items,
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::Fake;

    fn job(name: &str) -> Value {
        json!({
            "id": 7, "project": "shop/web", "name": name, "ref": "main", "status": "failed",
            "failure_reason": "admission_denied", "allowed_to_fail": false, "tags": ["linux"],
            "user": {"id": 1, "username": "alice"}, "created_at": "2026-11-18T12:30:05.000Z",
            "stuck_reason": null,
        })
    }

    #[test]
    fn filters_go_to_the_api_and_the_next_page_keeps_them() {
        let listing = json!({"items": [job("unit")], "next": 6});
        let fake = Fake::new().with("/api/v1/jobs?status=failed&project=shop%2Fweb", listing);
        let (status, html) = fake.page("/jobs?status=failed&project=shop%2Fweb");
        assert_eq!(status, 200);
        assert!(html.contains(r#"<a href="/jobs/7">unit</a>"#), "{html}");
        assert!(html.contains(r#"<option value="failed" selected>"#));
        assert!(html.contains("admission denied"));
        assert!(html.contains("2026-11-18 12:30:05 UTC"));
        let next = "/jobs?status=failed&#38;project=shop%2Fweb&#38;page=6";
        assert!(
            html.contains(&format!(r#"<a rel="next" href="{next}">"#)),
            "{html}"
        );
    }

    #[test]
    fn the_next_page_is_reached_also_from_an_empty_one() {
        let path = "/api/v1/jobs?tenant=shop";
        let fake = Fake::new().with(path, json!({"items": [], "next": 6}));
        let html = fake.page_with("/jobs?tenant=shop", 200);
        assert!(html.contains(r#"name="tenant" value="shop""#), "{html}");
        assert!(
            html.contains(r#"href="/jobs?tenant=shop&#38;page=6""#),
            "{html}"
        );
    }

    #[test]
    fn names_of_jobs_are_text() {
        let listing = json!({"items": [job("<script>alert(1)</script>")], "next": null});
        let (_, html) = Fake::new().with("/api/v1/jobs", listing).page("/jobs");
        assert!(!html.contains("<script>"), "{html}");
        assert!(html.contains("&#60;script&#62;"), "{html}");
        assert!(!html.contains("rel=\"next\""));
    }

    #[test]
    fn a_large_limit_is_cut_and_an_unknown_filter_is_named() {
        let fake = Fake::new().with("/api/v1/jobs?limit=500", json!({"items": [], "next": null}));
        let (status, html) = fake.page("/jobs?limit=9000");
        assert_eq!(status, 200);
        assert!(html.contains("No jobs match."), "{html}");
        let (status, html) = fake.page("/jobs?colour=red");
        assert_eq!(status, 400);
        assert!(html.contains("colour"), "{html}");
    }
}
