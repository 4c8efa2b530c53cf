//! The list of runners, and which of them may take a job.

use serde::Deserialize;
use serde_json::Value;

use super::eligibility::Matrix;
use crate::backend::{Pending, Place, Problem};
use crate::badge::Badge;
use crate::frame::Frame;
use crate::listing::Listing;
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::shown::sentence;

pub(super) const ROUTES: &[Route] = &[Route::page("/runners", show)];

/// Those of the API, and the job that runners are looked for.
const FILTERS: &[&str] = &["page", "limit", JOB];

const JOB: &str = "job";

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
    /// The job that runners are looked for; empty if there is none.
    job: String,
    matrix: Option<Matrix>,
    /// Why there is nothing of the job.
    problem: Option<String>,
    items: Vec<Runner>,
    next: Option<String>,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(FILTERS)?.capped();
        let job = query.get(JOB).trim_start_matches('#').to_owned();
        let (matrix, problem) = match job.as_str() {
            "" => (None, None),
            job => match Matrix::read(request.backend, job).await {
                Ok(matrix) => (Some(matrix), None),
                Err(problem) if problem.status == 404 => (None, Some(problem)),
                Err(problem) => return Err(problem),
            },
        };
        let path = query.with(JOB, "").of("/api/v1/runners");
        let listing: Listing<Runner> = request.backend.get(&path).await?;
        let status = problem.as_ref().map_or(200, |problem| problem.status);
        let runners = RunnersPage {
            frame: request.frame("Runners"),
            job,
            matrix,
            problem: problem.map(|problem| sentence(&problem.message)),
            next: listing.next_path(&query, "/runners"),
            items: listing.items,
        };
        page_with(status, &runners)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::pages::eligibility::tests::answer;
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

    #[test]
    fn a_job_is_shown_with_every_requirement_of_every_runner() {
        let none = json!({"items": [], "next": null});
        let fake = Fake::new()
            .with("/api/v1/runners", none)
            .with("/api/v1/jobs/7/runners", answer());
        let html = fake.page_with("/runners?job=%237", 200);
        assert!(html.contains("1 of 2 runners may take it."), "{html}");
        assert!(
            html.contains(r#"<th scope="col">not paused</th>"#),
            "{html}"
        );
        let rows: Vec<&str> = html.split("<tr>").skip(2).collect();
        assert!(
            rows[0].contains("builder") && !rows[0].contains("not met"),
            "{html}"
        );
        assert!(rows[1].contains("&#60;b&#62;other"), "{html}");
        assert_eq!(rows[1].matches("not met").count(), 1, "{html}");
        assert!(
            rows[1].contains("It lacks the tag <code>linux</code>."),
            "{html}"
        );
        assert!(html.contains(r#"<a href="/jobs/7">"#), "{html}");
    }

    #[test]
    fn a_job_that_does_not_exist_is_a_page_that_says_so() {
        let none = json!({"items": [], "next": null});
        let html = Fake::new()
            .with("/api/v1/runners", none)
            .failing("/api/v1/jobs/8/runners", 404, "there is no job 8")
            .page_with("/runners?job=8", 404);
        assert!(html.contains("There is no job 8."), "{html}");
        // Beside the form, with what was typed.
        assert!(
            html.contains(r#"name="job" inputmode="numeric" value="8""#),
            "{html}"
        );
    }
}
