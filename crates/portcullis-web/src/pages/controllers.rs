//! The list of admission controllers, and how others find a controller by its name.

use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Backend, Pending, Place, Problem};
use crate::badge::Badge;
use crate::frame::Frame;
use crate::listing::Listing;
use crate::query::Query;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/controllers", show)];

const FILTERS: &[&str] = &["page", "limit"];

/// A controller, without its secret: the API does not show it, and nothing else of an answer is kept here.
#[derive(Debug, Deserialize)]
pub(super) struct Controller {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) level: String,
    pub(super) path: Option<String>,
    pub(super) kind: String,
    pub(super) url: Option<String>,
    pub(super) policy: Option<Value>,
    pub(super) state: String,
    #[serde(rename = "match")]
    pub(super) conditions: Option<Value>,
    #[serde(default)]
    pub(super) may_untag: bool,
    pub(super) failure_policy: Option<String>,
    pub(super) concurrency: Option<u64>,
    pub(super) rate: Option<u64>,
    pub(super) timeout: Option<String>,
    #[serde(default)]
    pub(super) variables: Vec<String>,
    pub(super) created_at: String,
    pub(super) revision: u64,
    pub(super) breaker: Option<Breaker>,
}

/// How calling it goes.
#[derive(Debug, Deserialize)]
pub(super) struct Breaker {
    pub(super) state: String,
    pub(super) in_flight: u64,
}

impl Controller {
    pub(super) fn badge(&self) -> Badge {
        Badge::controller(&self.state)
    }

    /// How it is asked.
    pub(super) fn transport(&self) -> String {
        match (&self.url, &self.policy) {
            (Some(url), _) => format!("webhook {url}"),
            (None, Some(Value::String(name))) => format!("policy {name}"),
            (None, Some(_)) => "policy of its own".to_owned(),
            (None, None) => "claims jobs itself".to_owned(),
        }
    }

    /// Where it is managed.
    pub(super) fn place(&self) -> Place<'_> {
        match (self.level.as_str(), &self.path) {
            ("group", Some(path)) => Place::Group(path),
            ("project", Some(path)) => Place::Project(path),
            _ => Place::Root,
        }
    }

    /// Whether it is asked about jobs of this project.
    fn is_for(&self, project: &str) -> bool {
        let path = self.path.as_deref().unwrap_or_default();
        match self.level.as_str() {
            "group" => {
                let below = project.strip_prefix(path);
                below.is_some_and(|rest| rest.starts_with('/'))
            }
            "project" => project == path,
            _ => true,
        }
    }
}

/// Controllers by their names, which is all that decisions have.
#[derive(Debug)]
pub(super) struct Names(Vec<Controller>);

/// All controllers that the person may see.
pub(super) async fn names(backend: &dyn Backend) -> Result<Names, Problem> {
    backend.all("/api/v1/controllers").await.map(Names)
}

impl Names {
    /// The page of a controller of this level that is asked about jobs of this project. The configured policies have
    /// the name `policies`.
    pub(super) fn path(&self, name: &str, level: &str, project: &str) -> Option<String> {
        self.find(name, project, |one| one.level == level)
    }

    /// The same for a controller of any level.
    pub(super) fn path_of_any(&self, name: &str, project: &str) -> Option<String> {
        self.find(name, project, |_| true)
    }

    fn find(
        &self,
        name: &str,
        project: &str,
        fits: impl Fn(&Controller) -> bool,
    ) -> Option<String> {
        let mut named = self.0.iter().filter(|one| one.name == name);
        let found = named.find(|one| one.is_for(project) && fits(one));
        let policies = (name == "policies").then(|| "/policies".to_owned());
        found
            .map(|one| format!("/controllers/{}", one.id))
            .or(policies)
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "controllers.html")]
struct ControllersPage {
    frame: Frame,
    items: Vec<Controller>,
    next: Option<String>,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query: Query = request.query(FILTERS)?.capped();
        let path = query.of("/api/v1/controllers");
        let listing: Listing<Controller> = request.backend.get(&path).await?;
        page(&ControllersPage {
            frame: request.frame("Controllers"),
            next: listing.next_path(&query, "/controllers"),
            items: listing.items,
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::Fake;

    fn controller(id: u64, level: &str, path: Option<&str>) -> Value {
        json!({
            "id": id, "name": "budget", "level": level, "path": path, "kind": "validating",
            "url": "https://budget.example.org/?<script>", "state": "dry_run", "failure_policy": "closed",
            "created_at": "2026-11-18T12:30:05.000Z", "revision": 1, "secret": "whsec_abc",
        })
    }

    #[test]
    fn the_list_has_states_and_no_secret() {
        let listing = json!({"items": [controller(3, "group", Some("shop"))], "next": null});
        let fake = Fake::new().with("/api/v1/controllers", listing);
        let (status, html) = fake.page("/controllers");
        assert_eq!(status, 200);
        assert!(
            html.contains(r#"<a href="/controllers/3">budget</a>"#),
            "{html}"
        );
        assert!(html.contains("dry run"));
        assert!(!html.contains("whsec"), "{html}");
        assert!(!html.contains("<script>"), "{html}");
    }

    #[test]
    fn of_several_controllers_with_a_name_the_one_of_the_project_is_found() {
        let all = [
            controller(1, "project", Some("shop/app")),
            controller(2, "group", Some("sho")),
            controller(3, "group", Some("shop")),
            controller(4, "instance", None),
        ];
        let all = all.map(|one| serde_json::from_value(one).unwrap());
        let names = Names(all.into());
        let path = |level| names.path("budget", level, "shop/web");
        assert_eq!(path("group").as_deref(), Some("/controllers/3"));
        assert_eq!(path("instance").as_deref(), Some("/controllers/4"));
        assert_eq!(path("project"), None);
        assert_eq!(names.path("other", "group", "shop/web"), None);
    }
}
