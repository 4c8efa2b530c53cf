//! One pipeline: its jobs, stage by stage.

use serde::Deserialize;

use crate::backend::{Pending, Problem};
use crate::badge::Badge;
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/pipelines/*", show)];

#[derive(Debug, Deserialize)]
struct Pipeline {
    id: u64,
    project: String,
    name: String,
    #[serde(rename = "ref")]
    git_ref: String,
    change: Option<String>,
    status: String,
    stages: Vec<String>,
    created_at: String,
    finished_at: Option<String>,
    jobs: Vec<Job>,
}

#[derive(Debug, Clone, Deserialize)]
struct Job {
    id: u64,
    name: String,
    stage: String,
    status: String,
    allowed_to_fail: bool,
}

impl Job {
    fn badge(&self) -> Badge {
        Badge::job(&self.status)
    }
}

/// A stage with its jobs.
#[derive(Debug)]
struct Stage {
    name: String,
    jobs: Vec<Job>,
}

#[derive(Debug, askama::Template)]
#[template(path = "pipeline.html")]
struct PipelinePage {
    frame: Frame,
    badge: Badge,
    project_jobs: String,
    stages: Vec<Stage>,
    one: Pipeline,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let path = format!("/api/v1/pipelines/{}", segment(request.value(0)));
        let one: Pipeline = request.backend.get(&path).await?;
        let title = match one.name.as_str() {
            "" => format!("Pipeline {}", one.id),
            name => format!("Pipeline {}: {name}", one.id),
        };
        page(&PipelinePage {
            frame: request.frame(title).live_if(one.finished_at.is_none()),
            badge: Badge::job(&one.status),
            project_jobs: Query::default().with("project", &one.project).of("/jobs"),
            stages: staged(&one),
            one,
        })
    })
}

/// The stages that have jobs, in their order.
fn staged(one: &Pipeline) -> Vec<Stage> {
    let stages = one.stages.iter().map(|name| {
        let jobs = one.jobs.iter().filter(|job| job.stage == *name);
        Stage {
            name: name.clone(),
            jobs: jobs.cloned().collect(),
        }
    });
    stages.filter(|stage| !stage.jobs.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Fake;

    #[test]
    fn jobs_are_in_the_order_of_their_stages() {
        let job = |id: u64, name: &str, stage: &str| json!({"id": id, "name": name, "stage": stage, "status": "created", "allowed_to_fail": false});
        let pipeline = json!({
            "id": 3, "project": "shop/web", "name": "gate", "ref": "main", "change": "12,1",
            "status": "running", "stages": [".pre", "build", "test"],
            "created_at": "2026-11-18T12:30:05.000Z", "finished_at": null,
            "jobs": [job(9, "<b>unit</b>", "test"), job(8, "compile", "build")],
        });
        let fake = Fake::new().with("/api/v1/pipelines/3", pipeline);
        let (status, html) = fake.page("/pipelines/3");
        assert_eq!(status, 200);
        let place = |text: &str| {
            html.find(text)
                .unwrap_or_else(|| panic!("no {text}: {html}"))
        };
        assert!(place("/jobs/8") < place("/jobs/9"));
        assert!(html.contains("&#60;b&#62;unit"), "{html}");
        assert!(html.contains("12,1"));
        assert!(!html.contains(".pre"), "a stage without jobs is shown");
    }

    #[test]
    fn a_pipeline_that_does_not_exist_is_a_404_page() {
        let (status, html) = Fake::new().page("/pipelines/3");
        assert_eq!(status, 404);
        assert!(html.contains("role=\"alert\""));
    }
}
