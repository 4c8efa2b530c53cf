//! The projects of a tenant, each with its jobs.

use serde::Deserialize;

use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/tenants/*/projects", show)];

#[derive(Debug, Deserialize)]
struct Project {
    name: String,
    canonical_name: String,
}

impl Project {
    fn jobs(&self) -> String {
        Query::default().with("project", &self.name).of("/jobs")
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "projects.html")]
struct ProjectsPage {
    frame: Frame,
    tenant: String,
    projects: Vec<Project>,
}

impl ProjectsPage {
    fn back(&self) -> String {
        format!("/tenants/{}", segment(&self.tenant))
    }

    /// Jobs of all of them.
    fn jobs(&self) -> String {
        Query::default().with("tenant", &self.tenant).of("/jobs")
    }
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let tenant = request.value(0);
        let path = format!("/api/tenant/{}/projects", segment(tenant));
        let projects = request.backend.get(&path).await?;
        page(&ProjectsPage {
            frame: request.frame(format!("Projects of {tenant}")),
            tenant: tenant.to_owned(),
            projects,
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Fake;

    #[test]
    fn projects_lead_to_their_jobs() {
        let projects = json!([{"name": "shop/web", "canonical_name": "git.example/shop/web"},
            {"name": "<b>", "canonical_name": "<b>"}]);
        let fake = Fake::new().with("/api/tenant/t%2F1/projects", projects);
        let html = fake.page_with("/tenants/t%2F1/projects", 200);
        for text in [
            "Projects of t/1",
            "href=\"/jobs?project=shop%2Fweb\"",
            "git.example/shop/web",
            "href=\"/jobs?tenant=t%2F1\"",
            "href=\"/tenants/t%2F1\"",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert!(!html.contains("<b>"), "{html}");
        let none = Fake::new().with("/api/tenant/t/projects", json!([]));
        let html = none.page_with("/tenants/t/projects", 200);
        assert!(html.contains("by pattern"), "{html}");
        Fake::new().page_with("/tenants/none/projects", 404);
    }
}
