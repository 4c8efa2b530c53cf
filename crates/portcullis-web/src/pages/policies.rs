//! The policies: which there are, and each with its source and what a change of it would do.

mod candidate;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use self::candidate::Draft;
use super::candidate_report::Report;
use super::playground;
use crate::backend::{Pending, Problem, Verb};
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::script::Script;
use crate::shown::{safe_link, sentence};

pub(super) const ROUTES: &[Route] = &[
    Route::page("/policies", list),
    Route::page("/policies/*", show),
    Route::asking("/policies/*/replay", back, replay),
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
    last_change: Option<String>,
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

    /// The beginning of its digest.
    fn short_digest(&self) -> &str {
        let digest = self.digest.strip_prefix("sha256:").unwrap_or(&self.digest);
        digest.get(..12).unwrap_or(digest)
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

    /// Where it can be changed and tried.
    fn playground(&self) -> String {
        Query::default()
            .with("policy", &self.name)
            .of("/playground")
    }

    /// Where it can be changed together with others.
    fn candidate_set(&self) -> String {
        Query::default().with("policy", &self.name).of("/replay")
    }

    /// Its decisions, or only those of a verdict.
    fn decisions(&self, verdict: &str) -> String {
        let query = Query::default().with("policy", &self.name);
        query.with("verdict", verdict).of("/decisions")
    }

    /// Where what was counted with this outcome is listed; empty if nowhere.
    fn list_of(&self, outcome: &str) -> String {
        match (outcome, self.mode.as_str()) {
            ("deny", "enforce") => self.decisions("deny"),
            ("allow", _) => self.decisions("allow"),
            // They did not count, or others decided.
            ("deny" | "warn" | "error", _) => self.decisions(""),
            _ => String::new(),
        }
    }

    fn count(&self, outcome: &str) -> u64 {
        self.evaluations.get(outcome).copied().unwrap_or_default()
    }

    fn asked(&self) -> u64 {
        self.evaluations.values().sum()
    }

    /// Only pages of the web: a link could be a script.
    fn safe_link(&self) -> Option<&str> {
        safe_link(self.link.as_deref())
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
    /// Whether policies may be tried here by the person.
    may_try: bool,
}

#[derive(Debug, askama::Template)]
#[template(path = "policy.html")]
struct PolicyPage<'a> {
    frame: Frame,
    csrf: &'a str,
    one: Policy,
    /// Whether policies may be tried here by the person.
    may_try: bool,
    draft: Draft,
    report: Option<Report>,
    problem: Option<String>,
}

fn list(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let listed: Listed = request.backend.get("/api/v1/policies").await?;
        page(&PoliciesPage {
            frame: request.frame("Policies"),
            items: listed.items,
            plugins: listed.plugins,
            may_try: playground::may_try(request.backend),
        })
    })
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        shown(&request, None, None, None).await
    })
}

/// The page of a policy, with what was typed, and what came of it.
async fn shown(
    request: &Request<'_>,
    draft: Option<Draft>,
    report: Option<Report>,
    problem: Option<Problem>,
) -> Result<Reply, Problem> {
    let path = format!("/api/v1/policies/{}", segment(request.value(0)));
    let one: Policy = request.backend.get(&path).await?;
    let backend = request.backend;
    let may_try = playground::may_try(backend);
    let status = problem.as_ref().map_or(200, |problem| problem.status);
    let frame = request
        .frame(format!("Policy {}", one.name))
        .with_script(Script::Copy);
    let page = PolicyPage {
        frame: if may_try {
            frame.with_script(Script::Editor)
        } else {
            frame
        },
        csrf: &request.person().csrf,
        draft: draft.unwrap_or_else(|| Draft::of(&one.text)),
        one,
        may_try,
        report,
        problem: problem.map(|problem| sentence(&problem.message)),
    };
    page_with(status, &page)
}

/// The result has no address of its own.
fn back(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let to = format!("/policies/{}", segment(request.value(0)));
        Ok(Reply::SeeOther(to))
    })
}

fn replay(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        if let Some(reply) = playground::closed(&request)? {
            return Ok(reply);
        }
        let draft = Draft::sent(&request);
        let path = format!("/api/v1/policies/{}/replay", segment(request.value(0)));
        let answer = request.backend.call(Verb::Post, &path, Some(draft.body()));
        match answer.await {
            Ok(answer) => {
                let report = serde_json::from_value(answer).map_err(|_| Problem::internal())?;
                shown(&request, Some(draft), Some(report), None).await
            }
            Err(problem) if matches!(problem.status, 400 | 413 | 422 | 429 | 503) => {
                shown(&request, Some(draft), None, Some(problem)).await
            }
            Err(problem) => Err(problem),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::backend::{Problem, Verb};
    use crate::reply::Reply;
    use crate::testing::Fake;

    fn policy(name: &str, mode: &str) -> serde_json::Value {
        json!({"name": name, "order": 1, "mode": mode, "digest": "sha256:00ff", "source": "inline", "place": "p.yaml:3",
            "match": {"doors": ["kubernetes"], "labels": {"a": "<b>"}}, "description": null, "severity": "high",
            "category": null, "link": "javascript:alert(1)", "last_change": "2026-11-18T12:30:05.000Z",
            "evaluations": {"deny": 3, "pass": 4},
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
            html.contains("<a href=\"/policies/pin#outcomes\">7</a>"),
            "{html}"
        );
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

    #[test]
    fn another_text_can_be_tried_where_that_is_permitted() {
        let fake = || Fake::new().with("/api/v1/policies/pin", policy("pin", "warn"));
        let html = fake().page_with("/policies/pin", 200);
        assert!(
            !html.contains("/playground") && !html.contains("/replay"),
            "{html}"
        );
        let html = fake()
            .with_playground()
            .refusing("playground")
            .page_with("/policies/pin", 200);
        assert!(!html.contains("/replay"), "{html}");
        let html = fake().with_playground().page_with("/policies/pin", 200);
        assert!(html.contains("href=\"/playground?policy=pin\""), "{html}");
        assert!(html.contains("action=\"/policies/pin/replay\""), "{html}");
    }

    fn replayed(answer: Result<serde_json::Value, Problem>) -> (u16, String) {
        let fake = Fake::new()
            .with_playground()
            .with("/api/v1/policies/pin", policy("pin", "warn"))
            .answering(Verb::Post, "/api/v1/policies/pin/replay", answer);
        let sent = [("text", "return true\r\n"), ("since", "7d")];
        let Reply::Page { status, html } = fake.send("/policies/pin/replay", &sent) else {
            panic!("leads elsewhere");
        };
        let (_, _, asked) = fake.changes().remove(0);
        assert_eq!(asked, json!({"text": "return true\n", "since": "7d"}));
        assert!(html.contains("return true"), "{html}");
        (status, html)
    }

    #[test]
    fn what_would_change_is_counted_and_leads_to_decisions() {
        let example = json!({"id": "01K", "operation": "CREATE", "kind": "Pod", "namespace": "shop", "name": "web",
            "user": "eve", "was": {"allowed": true, "message": ""}, "now": {"allowed": false, "message": "<no>"}});
        let (status, html) = replayed(Ok(json!({"looked_at": 12, "is_complete": false,
            "summary": {"same": 9, "newlyDenied": 2, "newlyAllowed": 0, "patchDiffers": 0, "unknown": 1, "failed": 0},
            "changes": [{"change": "newlyDenied", "by": "pin", "count": 2, "examples": [example]}],
            "unknown": [{"reason": "p reads a secret", "count": 1, "ids": ["01M"]}], "failed": [], "faults": []})));
        assert_eq!(status, 200);
        for part in [
            "12 decisions",
            "2 would now be denied by pin",
            "href=\"/decisions/01K\"",
            "href=\"/decisions/01M\"",
            "&#60;no&#62;",
            "The newest",
            "p reads a secret",
            "value=\"7d\" selected",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn faults_of_another_text_are_shown_with_it() {
        let faults =
            json!([{"field": "policy", "message": "unexpected token", "line": 1, "column": 2}]);
        let (status, html) = replayed(Ok(
            json!({"looked_at": 0, "is_complete": false, "summary": null, "changes": null,
            "unknown": null, "failed": null, "faults": faults}),
        ));
        assert_eq!(status, 200);
        assert!(
            html.contains("Line 1, column 2: Unexpected token."),
            "{html}"
        );
        let busy = Problem {
            status: 429,
            message: "another replay is running".to_owned(),
        };
        let (status, html) = replayed(Err(busy));
        assert_eq!(status, 429);
        assert!(html.contains("Another replay is running."), "{html}");
    }
}
