//! One admission controller: how it is defined, how calling it goes, and what it was sent.

use serde_json::{Value, json};

use super::controllers::Controller;
use super::deliveries::{self, Deliveries};
use crate::ask::{Question, ask};
use crate::backend::{Pending, Problem, Verb};
use crate::badge::Badge;
use crate::form::Action;
use crate::frame::Frame;
use crate::query::segment;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;
use crate::shown::pretty;

pub(super) const ROUTES: &[Route] = &[
    Route::page("/controllers/*", show),
    Route::form("/controllers/*/enable", enable),
    Route::form("/controllers/*/dry-run", dry_run),
    Route::asking("/controllers/*/disable", ask_disable, disable),
    Route::form("/controllers/*/redeliver/*", redeliver),
];

const MANAGES: &str = "manage-controllers";

#[derive(Debug, askama::Template)]
#[template(path = "controller.html")]
struct ControllerPage<'a> {
    frame: Frame,
    csrf: &'a str,
    badge: Badge,
    sentence: &'static str,
    actions: Vec<Action>,
    code: Option<String>,
    conditions: Option<String>,
    deliveries: Deliveries,
    one: Controller,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let one: Controller = request.backend.get(&api_path(&request)).await?;
        let at = format!("/controllers/{}", one.id);
        let sent = deliveries::deliveries(request.backend, ("controller", one.id), &at);
        page(&ControllerPage {
            frame: request.frame(one.name.as_str()),
            csrf: &request.person().csrf,
            badge: one.badge(),
            sentence: sentence(&one.state),
            actions: actions(&request, &one),
            code: code(&one),
            conditions: conditions(&one),
            deliveries: sent.await?,
            one,
        })
    })
}

fn sentence(state: &str) -> &'static str {
    match state {
        "enabled" => "It is asked, and its answer counts.",
        "dry_run" => "It is asked, and its answer is only recorded.",
        "disabled" => "It is not asked.",
        _ => {
            "It answered 410 Gone. It is not asked and counts as failing until someone enables it."
        }
    }
}

/// The other states it may have.
fn actions(request: &Request<'_>, one: &Controller) -> Vec<Action> {
    let states = [
        ("enabled", "Enable", "enable"),
        ("dry_run", "Dry run", "dry-run"),
        ("disabled", "Disable", "disable"),
    ];
    let others = states.into_iter().filter(|(state, ..)| *state != one.state);
    let action = |(_, label, word)| {
        let path = format!("/controllers/{}/{word}", one.id);
        let action = Action::new(request.backend, label, path, (MANAGES, one.place()));
        match word {
            "disable" => action.asking(),
            _ => action,
        }
    };
    others.map(action).collect()
}

/// Which jobs it is asked about, unless it is asked about all.
fn conditions(one: &Controller) -> Option<String> {
    let conditions = one.conditions.as_ref()?;
    let is_given = conditions.as_object().is_some_and(|all| !all.is_empty());
    is_given.then(|| pretty(conditions))
}

/// The text of a policy that is the controller's own.
fn code(one: &Controller) -> Option<String> {
    let code = one.policy.as_ref()?.get("code")?;
    code.as_str().map(str::to_owned)
}

fn api_path(request: &Request<'_>) -> String {
    format!("/api/v1/controllers/{}", segment(request.value(0)))
}

fn enable(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { set_state(&request, "enabled").await })
}

fn dry_run(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { set_state(&request, "dry_run").await })
}

fn ask_disable(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let one: Controller = request.backend.get(&api_path(&request)).await?;
        let question = Question {
            title: format!("Disable controller {}?", one.name),
            text: "It is not asked about jobs any more: what it would have denied or changed goes on as it is.".to_owned(),
            label: "Disable controller",
            back: format!("/controllers/{}", one.id),
        };
        ask(&request, &question)
    })
}

fn disable(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { set_state(&request, "disabled").await })
}

async fn set_state(request: &Request<'_>, state: &str) -> Result<Reply, Problem> {
    let patch: Value = json!({"state": state});
    let path = api_path(request);
    request
        .backend
        .call(Verb::Patch, &path, Some(patch))
        .await?;
    Ok(back(request, ""))
}

fn redeliver(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        deliveries::redeliver(&request).await?;
        Ok(back(&request, "#deliveries"))
    })
}

/// The page of the controller.
fn back(request: &Request<'_>, place: &str) -> Reply {
    let id = segment(request.value(0));
    Reply::SeeOther(format!("/controllers/{id}{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fake;

    fn delivery(id: u64, state: &str) -> Value {
        json!({
            "id": id, "job": 7, "project": "shop/web", "controller": 3, "controller_name": "budget",
            "attempt": 1, "state": state, "webhook_id": "msg_1", "next_at": null,
            "tries": [{"at": "2026-11-18T12:30:05.000Z", "status": 500, "error": "<b>no</b>", "duration_ms": 12}],
            "created_at": "2026-11-18T12:30:05.000Z", "deadline": "2026-11-18T13:30:05.000Z",
        })
    }

    fn fake(state: &str) -> Fake {
        let controller = json!({
            "id": 3, "name": "budget", "level": "project", "path": "shop/web", "kind": "both",
            "policy": {"code": "return '<script>';"}, "state": state, "failure_policy": "closed",
            "match": {"refs": ["main"]}, "concurrency": 32, "rate": 100, "timeout": "15s",
            "created_at": "2026-11-18T12:30:05.000Z", "revision": 2, "secret": "whsec_abc",
            "breaker": {"state": "open", "in_flight": 1},
        });
        let sent = json!({"items": [delivery(11, "failed"), delivery(10, "done")], "next": null});
        Fake::new()
            .with("/api/v1/controllers/3", controller)
            .with("/api/v1/deliveries?controller=3", sent)
    }

    #[test]
    fn a_controller_is_shown_with_its_deliveries_and_without_its_secret() {
        let (status, html) = fake("enabled").page("/controllers/3");
        assert_eq!(status, 200, "{html}");
        assert!(html.contains("breaker open"), "{html}");
        assert!(
            html.contains("&#60;script&#62;") && html.contains("&#60;b&#62;no"),
            "{html}"
        );
        assert!(!html.contains("<script>"), "{html}");
        assert!(!html.contains("whsec_"), "{html}");
        assert!(html.contains(r#"<a href="/jobs/7">"#));
        assert!(html.contains("/controllers/3/redeliver/11"));
        assert!(
            !html.contains("/redeliver/10"),
            "a delivery that is done can be delivered again"
        );
        assert!(html.contains("/controllers/3/disable") && !html.contains("/controllers/3/enable"));
        assert!(html.contains(r#"name="csrf" value="token-of-the-session""#));
    }

    #[test]
    fn one_who_may_not_change_it_sees_why() {
        let (_, html) = fake("suspended").refusing(MANAGES).page("/controllers/3");
        assert!(
            html.contains("none of your roles here permits `manage-controllers`"),
            "{html}"
        );
        assert!(!html.contains("/controllers/3/enable"));
        assert!(!html.contains("/redeliver/"));
    }

    #[test]
    fn states_are_set_and_deliveries_repeated_through_the_api() {
        let fake = fake("enabled")
            .answering(Verb::Patch, "/api/v1/controllers/3", Ok(Value::Null))
            .answering(
                Verb::Post,
                "/api/v1/deliveries/11/redeliver",
                Ok(Value::Null),
            );
        let html = fake.page_with("/controllers/3/disable", 200);
        assert!(html.contains("Disable controller budget?"), "{html}");
        assert!(fake.changes().is_empty());
        let to = fake.send("/controllers/3/dry-run", &[]);
        assert_eq!(to, Reply::SeeOther("/controllers/3".to_owned()));
        fake.send("/controllers/3/redeliver/11", &[]);
        let changes = fake.changes();
        assert_eq!(changes[0].2, json!({"state": "dry_run"}));
        assert_eq!(changes[1].1, "/api/v1/deliveries/11/redeliver");
    }
}
