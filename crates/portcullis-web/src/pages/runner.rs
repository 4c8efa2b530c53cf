//! One runner: what it takes, which machines ask with its token, and pausing it.

use serde_json::json;

use super::runners::Runner;
use crate::ask::{Question, ask};
use crate::backend::{Pending, Problem, Verb};
use crate::badge::Badge;
use crate::form::Action;
use crate::frame::Frame;
use crate::query::segment;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[
    Route::page("/runners/*", show),
    Route::form("/runners/*/pause", pause),
    Route::form("/runners/*/resume", resume),
    Route::asking("/runners/*/delete", ask_delete, delete),
];

const MANAGES: &str = "manage-runners";

#[derive(Debug, askama::Template)]
#[template(path = "runner.html")]
struct RunnerPage<'a> {
    frame: Frame,
    csrf: &'a str,
    badge: Badge,
    sentence: &'static str,
    actions: [Action; 2],
    one: Runner,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let one = runner(&request).await?;
        page(&RunnerPage {
            frame: request.frame(one.title()),
            csrf: &request.person().csrf,
            badge: one.badge(),
            sentence: match one.paused {
                true => "It takes no jobs until it is resumed.",
                false => "It takes jobs that match.",
            },
            actions: actions(&request, &one),
            one,
        })
    })
}

fn actions(request: &Request<'_>, one: &Runner) -> [Action; 2] {
    let needed = (MANAGES, one.place());
    let action = |label, word: &str| {
        let path = format!("/runners/{}/{word}", one.id);
        Action::new(request.backend, label, path, needed)
    };
    let other = match one.paused {
        true => action("Resume", "resume"),
        false => action("Pause", "pause"),
    };
    [other, action("Delete", "delete").asking()]
}

fn api_path(request: &Request<'_>) -> String {
    format!("/api/v1/runners/{}", segment(request.value(0)))
}

/// The runner that the path names.
async fn runner(request: &Request<'_>) -> Result<Runner, Problem> {
    request.backend.get(&api_path(request)).await
}

fn pause(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { set_paused(&request, true).await })
}

fn resume(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { set_paused(&request, false).await })
}

async fn set_paused(request: &Request<'_>, paused: bool) -> Result<Reply, Problem> {
    let (path, patch) = (api_path(request), json!({"paused": paused}));
    request
        .backend
        .call(Verb::Patch, &path, Some(patch))
        .await?;
    let id = segment(request.value(0));
    Ok(Reply::SeeOther(format!("/runners/{id}")))
}

fn ask_delete(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let one = runner(&request).await?;
        let question = Question {
            title: format!("Delete runner {}?", one.id),
            text: format!(
                "{} will be deleted, and its token becomes invalid. This can't be undone.",
                one.title()
            ),
            label: "Delete runner",
            back: format!("/runners/{}", one.id),
        };
        ask(&request, &question)
    })
}

fn delete(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let path = api_path(&request);
        request.backend.call(Verb::Delete, &path, None).await?;
        Ok(Reply::SeeOther("/runners".to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::Fake;

    fn fake(paused: bool) -> Fake {
        let runner = json!({
            "id": 5, "runner_type": "instance_type", "description": "<script>builder",
            "tag_list": ["linux"], "run_untagged": true, "access_level": "ref_protected",
            "paused": paused, "locked": false, "token": "glrt-secret",
            "managers": [{
                "system_id": "s_1", "contacted_at": "2026-11-18T12:30:05.000Z", "address": "10.0.0.7",
                "info": {"name": "gitlab-runner", "version": "17.1.0"}, "held": false,
                "held_until": null, "hold": null,
            }],
        });
        Fake::new().with("/api/v1/runners/5", runner)
    }

    #[test]
    fn a_runner_is_shown_with_its_machines_and_without_its_token() {
        let (status, html) = fake(false).page("/runners/5");
        assert_eq!(status, 200);
        assert!(html.contains("&#60;script&#62;builder"), "{html}");
        assert!(!html.contains("<script>"), "{html}");
        assert!(!html.contains("glrt-"), "{html}");
        assert!(html.contains("gitlab-runner 17.1.0"));
        assert!(html.contains("2026-11-18 12:30:05 UTC"));
        assert!(html.contains(r#"action="/runners/5/pause""#));
        assert!(html.contains(r#"name="csrf" value="token-of-the-session""#));
    }

    #[test]
    fn one_who_may_not_pause_it_sees_why() {
        let (_, html) = fake(true).refusing(MANAGES).page("/runners/5");
        assert!(html.contains("disabled"), "{html}");
        assert!(html.contains("manage-runners"));
        assert!(!html.contains("/runners/5/resume"));
        assert!(!html.contains("/runners/5/delete"));
    }

    #[test]
    fn pausing_is_a_patch_and_leads_back() {
        let fake = fake(false).answering(Verb::Patch, "/api/v1/runners/5", Ok(Value::Null));
        let to = fake.send("/runners/5/pause", &[]);
        assert_eq!(to, Reply::SeeOther("/runners/5".to_owned()));
        let (verb, path, body) = fake.changes().remove(0);
        assert_eq!((verb, path.as_str()), (Verb::Patch, "/api/v1/runners/5"));
        assert_eq!(body, json!({"paused": true}));
    }

    #[test]
    fn deleting_asks_first() {
        let fake = fake(false).answering(Verb::Delete, "/api/v1/runners/5", Ok(Value::Null));
        let (status, html) = fake.page("/runners/5/delete");
        assert_eq!(status, 200);
        assert!(
            html.contains(r#"<form method="post" action="/runners/5/delete">"#),
            "{html}"
        );
        assert!(html.contains(r#"name="csrf" value="token-of-the-session""#));
        assert!(fake.changes().is_empty());
        assert_eq!(
            fake.send("/runners/5/delete", &[]),
            Reply::SeeOther("/runners".to_owned())
        );
        assert_eq!(fake.changes().len(), 1);
    }
}
