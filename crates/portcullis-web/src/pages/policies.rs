//! The policies: which there are, and each with its text.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[
    Route::page("/policies", list),
    Route::page("/policies/*", show),
];

#[derive(Debug, Deserialize)]
struct Listed {
    items: Vec<Policy>,
    #[serde(default)]
    plugins: Vec<String>,
}

/// A policy, with its text if it is shown alone.
#[derive(Debug, Deserialize)]
struct Policy {
    name: String,
    order: u64,
    mode: String,
    digest: String,
    source: String,
    place: String,
    #[serde(rename = "match")]
    matching: Map<String, Value>,
    description: Option<String>,
    severity: Option<String>,
    category: Option<String>,
    link: Option<String>,
    #[serde(default)]
    evaluations: BTreeMap<String, u64>,
    #[serde(default)]
    text: String,
}

impl Policy {
    /// What a denial means, and how it looks.
    fn class(&self) -> &'static str {
        match self.mode.as_str() {
            "enforce" => "good",
            "warn" => "changed",
            _ => "waiting",
        }
    }

    /// What it applies to, a line for each key.
    fn conditions(&self) -> Vec<(String, String)> {
        let keys = self.matching.iter();
        keys.map(|(key, value)| (key.clone(), listed(value)))
            .collect()
    }

    fn path(&self) -> String {
        format!("/policies/{}", segment(&self.name))
    }

    /// Its decisions, or only those of a verdict.
    fn decisions(&self, verdict: &str) -> String {
        let query = Query::default().with("policy", &self.name);
        query.with("verdict", verdict).of("/decisions")
    }

    fn count(&self, outcome: &str) -> u64 {
        self.evaluations.get(outcome).copied().unwrap_or_default()
    }

    fn asked(&self) -> u64 {
        self.evaluations.values().sum()
    }

    /// Only pages of the web: a link could be a script.
    fn safe_link(&self) -> Option<&str> {
        let link = self.link.as_deref();
        link.filter(|link| link.starts_with("https://") || link.starts_with("http://"))
    }
}

fn listed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(listed).collect::<Vec<_>>().join(", "),
        Value::Object(all) => {
            let all = all
                .iter()
                .map(|(key, value)| format!("{key}={}", listed(value)));
            all.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "policies.html")]
struct PoliciesPage {
    frame: Frame,
    items: Vec<Policy>,
    plugins: Vec<String>,
}

#[derive(Debug, askama::Template)]
#[template(path = "policy.html")]
struct PolicyPage {
    frame: Frame,
    one: Policy,
}

fn list(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let listed: Listed = request.backend.get("/api/v1/policies").await?;
        page(&PoliciesPage {
            frame: request.frame("Policies"),
            items: listed.items,
            plugins: listed.plugins,
        })
    })
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let path = format!("/api/v1/policies/{}", segment(request.value(0)));
        let one: Policy = request.backend.get(&path).await?;
        page(&PolicyPage {
            frame: request.frame(format!("Policy {}", one.name)),
            one,
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Fake;

    fn policy(name: &str, mode: &str) -> serde_json::Value {
        json!({"name": name, "order": 1, "mode": mode, "digest": "sha256:00ff", "source": "inline", "place": "p.yaml:3",
            "match": {"doors": ["kubernetes"], "labels": {"a": "<b>"}}, "description": null, "severity": "high",
            "category": null, "link": "javascript:alert(1)", "evaluations": {"deny": 3, "pass": 4},
            "text": "return '<script>alert(1)</script>';"})
    }

    #[test]
    fn the_list_names_modes_and_leads_to_pages_and_decisions() {
        let items = [policy("pin", "enforce"), policy("a b", "dry-run")];
        let fake = Fake::new().with(
            "/api/v1/policies",
            json!({"items": items, "plugins": ["PodSecurity", "Policies"]}),
        );
        let html = fake.page_with("/policies", 200);
        assert!(html.contains("href=\"/policies/a%20b\""), "{html}");
        assert!(html.contains("/decisions?policy=pin"), "{html}");
        assert!(
            html.contains("dry-run") && html.contains("PodSecurity"),
            "{html}"
        );
    }

    #[test]
    fn text_and_links_of_authors_are_only_text() {
        let fake = Fake::new().with("/api/v1/policies/pin", policy("pin", "warn"));
        let html = fake.page_with("/policies/pin", 200);
        assert!(!html.contains("<script>alert"), "{html}");
        assert!(!html.contains("href=\"javascript"), "{html}");
        assert!(
            html.contains("sha256:00ff") && html.contains("p.yaml:3"),
            "{html}"
        );
        assert!(html.contains("policy=pin&#38;verdict=deny"), "{html}");
    }

    #[test]
    fn an_unknown_policy_is_not_found() {
        let html = Fake::new().page_with("/policies/none", 404);
        assert!(html.contains("Not found"), "{html}");
    }
}
