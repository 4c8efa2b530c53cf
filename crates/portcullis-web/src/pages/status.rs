//! How the server is, what is wrong first.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::query::Query;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;
use crate::shown::sentence;

pub(super) const ROUTES: &[Route] = &[Route::page("/status", show)];

/// A certificate that ends sooner is a problem.
const SOON: i64 = 30;

#[derive(Debug, Deserialize)]
struct Status {
    version: String,
    started: String,
    checks: Vec<Check>,
    listeners: Vec<Listener>,
    last_reload: Option<Reload>,
    stores: Vec<Store>,
    graphs: Vec<Graph>,
    watches: Vec<Watch>,
    authenticators: Vec<Authenticator>,
    decision_log: DecisionLog,
}

#[derive(Debug, Deserialize)]
struct Check {
    name: String,
    state: String,
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Listener {
    name: String,
    address: String,
    serves: Vec<String>,
    tls: bool,
    is_development: bool,
    certificate_expires: Option<String>,
    certificate_days_left: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct Reload {
    at: String,
    successful: bool,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Store {
    keeps: String,
    location: String,
    reachable: bool,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Graph {
    name: String,
    synced: bool,
    lag_seconds: u64,
    vertices: u64,
    edges: u64,
    problems: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Watch {
    profile: Option<String>,
    kind: String,
    state: String,
    synced: bool,
    objects: u64,
    last_event: Option<String>,
    malformed: u64,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Authenticator {
    realm: Option<String>,
    driver: String,
    issuer: String,
    is_default: bool,
    can_sign_in: bool,
}

#[derive(Debug, Deserialize)]
struct DecisionLog {
    on: bool,
    required: bool,
    kept: BTreeMap<String, u64>,
    dropped: BTreeMap<String, u64>,
    waiting: u64,
}

impl Listener {
    /// How long its certificate lasts, in words.
    fn rest(&self) -> String {
        match self.certificate_days_left {
            None => String::new(),
            Some(days) if days < 0 => "expired".to_owned(),
            Some(1) => "1 day left".to_owned(),
            Some(days) => format!("{days} days left"),
        }
    }

    fn problem(&self) -> Option<String> {
        // One for development is made anew in time.
        let days = self
            .certificate_days_left
            .filter(|_| !self.is_development)?;
        (days < SOON).then(|| format!("certificate of {}: {}", self.name, self.rest()))
    }
}

impl Watch {
    /// What it is for.
    fn of(&self) -> &str {
        self.profile.as_deref().unwrap_or("plug-ins and policies")
    }

    /// Where its objects are listed; empty if nowhere.
    fn list(&self) -> String {
        let Some(profile) = &self.profile else {
            return String::new();
        };
        let query = Query::default().with("profile", profile);
        query
            .with("search", &format!("{}:", self.kind))
            .of("/graph")
    }

    fn words(&self) -> String {
        self.state.replace('_', " ")
    }
}

impl Graph {
    /// Where its vertices are listed.
    fn list(&self) -> String {
        let query = Query::default().with("profile", &self.name);
        query.of("/debug/resource-dependency-graph")
    }
}

impl Status {
    fn is_ready(&self) -> bool {
        self.checks.iter().all(|check| check.state != "failed")
    }

    /// Everything that needs someone's attention.
    fn problems(&self) -> Vec<String> {
        let mut checks: Vec<&Check> = self.checks.iter().filter(|c| c.state != "ok").collect();
        checks.sort_by_key(|check| check.state != "failed");
        let checks = checks.into_iter().map(|check| {
            let message = check.message.as_deref().unwrap_or("failed");
            format!("{}: {message}", check.name)
        });
        let certificates = self.listeners.iter().filter_map(Listener::problem);
        let lost: u64 = self.decision_log.dropped.values().sum();
        let lost = (lost > 0).then(|| format!("decision log: {lost} decisions were not recorded"));
        let all = checks.chain(certificates).chain(lost);
        all.map(|text| sentence(&text)).collect()
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "status.html")]
struct StatusPage {
    frame: Frame,
    problems: Vec<String>,
    status: Status,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let status: Status = request.backend.get("/api/v1/status").await?;
        page(&StatusPage {
            frame: request.frame("Status"),
            problems: status.problems(),
            status,
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::Fake;

    fn status(check: &str, days: i64, dropped: u64) -> Value {
        json!({"version": "1.2.3", "started": "2026-11-18T12:30:05.000Z",
            "checks": [{"name": "ping", "state": "ok", "message": null},
                {"name": "store", "state": check, "message": "<script>full</script>"}],
            "listeners": [{"name": "front", "address": "https://127.0.0.1:8443", "serves": ["api", "web"], "tls": true,
                "is_development": false, "certificate_expires": "2026-12-01T00:00:00.000Z", "certificate_days_left": days}],
            "last_reload": {"at": "2026-11-18T13:00:00.000Z", "successful": true, "error": null},
            "stores": [{"keeps": "decisions", "location": "sqlite:/x.db", "reachable": true, "error": null}],
            "graphs": [{"name": "node", "synced": true, "lag_seconds": 2, "vertices": 7, "edges": 6, "problems": []}],
            "watches": [
                {"profile": "node", "kind": "Pod", "state": "watching", "synced": true, "objects": 5,
                    "last_event": "2026-11-18T14:00:00.000Z", "malformed": 2, "error": null},
                {"profile": null, "kind": "v1/Namespace", "state": "not_served", "synced": false, "objects": 0,
                    "last_event": null, "malformed": 0, "error": "namespaces is <forbidden>"}],
            "authenticators": [{"realm": "R1", "driver": "HS256", "issuer": "corp", "is_default": true, "can_sign_in": false}],
            "decision_log": {"on": true, "required": false, "kept": {"store": 5}, "dropped": {"queue_full": dropped}, "waiting": 0}})
    }

    fn page(status: Value) -> String {
        Fake::new()
            .with("/api/v1/status", status)
            .page_with("/status", 200)
    }

    #[test]
    fn what_is_wrong_comes_first_and_only_then() {
        let html = page(status("failed", 12, 3));
        let first = html.find("Problems").unwrap();
        assert!(first < html.find("Listeners").unwrap(), "{html}");
        for text in ["not ready", "12 days left", "3 decisions were not recorded"] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert!(!html.contains("<script>full"), "{html}");
        assert!(!page(status("ok", 200, 0)).contains("Problems"));
    }

    #[test]
    fn every_kind_that_is_watched_has_its_state_and_leads_to_its_objects() {
        let html = page(status("ok", 200, 0));
        for text in [
            "href=\"/graph?profile=node&#38;search=Pod%3A\"",
            "2026-11-18 14:00:00 UTC",
            "2 malformed",
            "plug-ins and policies",
            "not served",
            "namespaces is &#60;forbidden&#62;",
            "href=\"/debug/resource-dependency-graph?profile=node\"",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
    }

    #[test]
    fn everything_is_named_with_its_time() {
        let html = page(status("ok", 200, 0));
        for text in [
            "front",
            "https://127.0.0.1:8443",
            "sqlite:/x.db",
            "HS256",
            "corp",
            "200 days left",
            "1.2.3",
            "<time datetime=\"2026-11-18T12:30:05.000Z\">2026-11-18 12:30:05 UTC</time>",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
    }
}
