//! Who may do what and why, and a form that tries it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::query::Query;
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::shown::sentence;

pub(super) const ROUTES: &[Route] = &[Route::page("/roles", show)];

/// What the form asks.
const ASKED: &[&str] = &[
    "permission",
    "tenant",
    "project",
    "pipeline",
    "ref",
    "change",
    "job",
    "controller",
    "claims",
];

/// Conditions that can be typed.
const TEXTS: &[&str] = &["project", "pipeline", "ref", "change", "job", "controller"];

#[derive(Debug, Deserialize)]
struct Roles {
    places: Vec<Place>,
    permissions: Vec<Permission>,
}

#[derive(Debug, Deserialize)]
struct Place {
    tenant: Option<String>,
    is_admin: bool,
    anonymous_read: bool,
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    name: String,
    is_own: bool,
    requires: Option<String>,
    roles: Vec<String>,
    permissions: BTreeMap<String, Permitted>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Permitted {
    Always(bool),
    When(Vec<Grant>),
}

#[derive(Debug, Deserialize)]
struct Grant {
    role: String,
    conditions: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Permission {
    name: String,
    conditions: Vec<String>,
}

/// What a check said.
#[derive(Debug, Deserialize)]
struct Checked {
    allowed: bool,
    reason: String,
    here: Option<Here>,
}

/// Everything that they have there.
#[derive(Debug, Deserialize)]
struct Here {
    is_admin: bool,
    rules: Vec<String>,
    roles: Vec<String>,
    permissions: BTreeMap<String, Permitted>,
}

impl Permitted {
    /// On which conditions, in words; nothing if there are none.
    fn conditions(&self) -> Vec<String> {
        match self {
            Self::Always(true) => Vec::new(),
            Self::Always(false) => vec!["never".to_owned()],
            Self::When(grants) => grants.iter().map(Grant::text).collect(),
        }
    }
}

impl Grant {
    fn text(&self) -> String {
        let all = self.conditions.iter();
        let all = all.map(|(name, wanted)| format!("{name} is {}", any_of(wanted)));
        format!(
            "if {} ({})",
            all.collect::<Vec<_>>().join(" and "),
            self.role
        )
    }
}

fn any_of(wanted: &Value) -> String {
    match wanted {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(any_of).collect::<Vec<_>>().join(" or "),
        other => other.to_string(),
    }
}

impl Place {
    fn name(&self) -> &str {
        self.tenant.as_deref().unwrap_or("api-root")
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "roles.html")]
struct RolesPage {
    frame: Frame,
    query: Query,
    texts: &'static [&'static str],
    roles: Roles,
    /// Whether the person administers anything, and so may ask about others.
    is_admin: bool,
    /// Whether it is allowed, and why.
    checked: Option<Checked>,
    /// Why the form can't be answered.
    wrong: Option<String>,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(ASKED)?;
        let backend = request.backend;
        let roles: Roles = backend.get("/api/v1/roles").await?;
        let checked = match query.is_empty() {
            true => Ok(None),
            false => {
                let checked = query.of("/api/v1/roles/check");
                backend.get::<Checked>(&checked).await.map(Some)
            }
        };
        let (status, checked, wrong) = match checked {
            Ok(checked) => (200, checked, None),
            Err(problem) => (problem.status, None, Some(sentence(&problem.message))),
        };
        let page = RolesPage {
            frame: request.frame("Roles"),
            query,
            texts: TEXTS,
            is_admin: roles.places.iter().any(|place| place.is_admin),
            roles,
            checked,
            wrong,
        };
        page_with(status, &page)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::Fake;

    fn roles() -> Value {
        json!({"user": "ann", "places": [
            {"tenant": null, "is_admin": false, "anonymous_read": true, "rules": []},
            {"tenant": "t<1>", "is_admin": true, "anonymous_read": false, "rules": [
                {"name": "is-ann", "is_own": true, "requires": "`sub` is `<script>`", "roles": ["builder"],
                 "permissions": {"read": true, "cancel-job": [
                    {"rule": "is-ann", "role": "builder", "conditions": {"project": ["one/a", "one/b"]}}]}}]}],
            "permissions": [{"name": "read", "conditions": []}, {"name": "cancel-job", "conditions": ["project"]}]})
    }

    #[test]
    fn rules_roles_and_conditions_are_named_where_they_count() {
        let html = Fake::new()
            .with("/api/v1/roles", roles())
            .page_with("/roles", 200);
        for text in [
            "api-root",
            "is-ann",
            "builder",
            "cancel-job",
            "project is one/a or one/b",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert!(
            !html.contains("<script>`") && !html.contains("t<1>"),
            "{html}"
        );
        assert!(!html.contains("role=\"status\""), "{html}");
    }

    #[test]
    fn what_is_tried_is_answered_with_the_reason() {
        let path = "/api/v1/roles/check?permission=cancel-job&tenant=t1";
        let fake = |allowed: bool| {
            let said = json!({"allowed": allowed, "reason": "because", "here": null});
            Fake::new().with("/api/v1/roles", roles()).with(path, said)
        };
        let page = "/roles?permission=cancel-job&tenant=t1&project=";
        let html = fake(true).page_with(page, 200);
        assert!(
            html.contains("Allowed") && html.contains("Because."),
            "{html}"
        );
        assert!(html.contains("value=\"cancel-job\" selected"), "{html}");
        assert!(fake(false).page_with(page, 200).contains("Denied"));
    }

    #[test]
    fn administrators_ask_about_other_claims_and_see_all_that_these_have() {
        let claims = "%7B%22sub%22%3A%22%3Cbo%3E%22%7D";
        let path = format!("/api/v1/roles/check?permission=read&tenant=t1&claims={claims}");
        let here = json!({"is_admin": false, "rules": ["is-bo"], "roles": ["reader"],
            "permissions": {"read": true, "cancel-job": [
                {"rule": "is-bo", "role": "reader", "conditions": {"ref": "main"}}]}});
        let said =
            json!({"allowed": true, "reason": "the rule `is-bo` matches them", "here": here});
        let fake = Fake::new().with("/api/v1/roles", roles()).with(&path, said);
        let html = fake.page_with(
            &format!("/roles?permission=read&tenant=t1&claims={claims}"),
            200,
        );
        for text in [
            "What these claims have in t1",
            "<code>is-bo</code> matches them",
            "cancel-job",
            "ref is main",
            "&#60;bo&#62;",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
        let mut own = roles();
        own["places"][1]["is_admin"] = false.into();
        let html = Fake::new()
            .with("/api/v1/roles", own)
            .page_with("/roles", 200);
        assert!(!html.contains("name=\"claims\""), "{html}");
    }

    #[test]
    fn what_can_not_be_answered_is_said_beside_the_form() {
        let fake = Fake::new().with("/api/v1/roles", roles());
        let fake = fake.failing(
            "/api/v1/roles/check?permission=fly",
            400,
            "unknown permission",
        );
        let html = fake.page_with("/roles?permission=fly", 400);
        assert!(
            html.contains("Unknown permission.") && html.contains("is-ann"),
            "{html}"
        );
    }
}
