//! The playground: a policy that somebody is writing, and what it makes of an object.
//!
//! Everything works without scripts: the form is sent, and the same page comes back with what was typed and the result.
//! A script may put an editor in place of the text areas.

mod form;
mod listing;
mod result;

use serde::Deserialize;
use serde_json::{Map, Value};

use self::form::Draft;
use self::result::{Outcome, Verdict};
use crate::backend::{Backend, Pending, Place, Problem, Verb};
use crate::frame::Frame;
use crate::query::segment;
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::script::Script;
use crate::shown::sentence;

pub(super) const ROUTES: &[Route] = &[Route::asking("/playground", show, run)];

/// What one needs here.
const PERMISSION: &str = "playground";
const CALL: &str = "/api/v1/playground";

#[derive(Debug, askama::Template)]
#[template(path = "playground_off.html")]
struct OffPage {
    frame: Frame,
}

#[derive(Debug, askama::Template)]
#[template(path = "playground.html")]
struct PlaygroundPage<'a> {
    frame: Frame,
    csrf: &'a str,
    draft: Draft,
    outcome: Option<Outcome>,
    problem: Option<String>,
}

/// A policy of the configuration.
#[derive(Debug, Deserialize)]
struct Policy {
    place: String,
    text: String,
    #[serde(rename = "match")]
    matching: Map<String, Value>,
}

/// Whether the person may try policies here.
pub(super) fn may_try(backend: &dyn Backend) -> bool {
    backend.has_playground() && backend.refusal(PERMISSION, Place::Root).is_none()
}

/// The page that says that the playground is off, if it is; an error for those who lack the permission.
pub(super) fn closed(request: &Request<'_>) -> Result<Option<Reply>, Problem> {
    if !request.backend.has_playground() {
        let frame = request.frame("Playground");
        return page_with(404, &OffPage { frame }).map(Some);
    }
    match request.backend.refusal(PERMISSION, Place::Root) {
        None => Ok(None),
        Some(message) => Err(Problem {
            status: 403,
            message,
        }),
    }
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(&["policy"])?;
        if let Some(reply) = closed(&request)? {
            return Ok(reply);
        }
        let draft = match query.get("policy") {
            "" => Draft::example(),
            name => {
                let path = format!("/api/v1/policies/{}", segment(name));
                let policy: Policy = request.backend.get(&path).await?;
                Draft::of_policy(&policy.text, &policy.place, policy.matching.get("doors"))
            }
        };
        shown(&request, draft, None, None)
    })
}

fn run(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        if let Some(reply) = closed(&request)? {
            return Ok(reply);
        }
        let draft = Draft::sent(&request);
        let answer = request.backend.call(Verb::Post, CALL, Some(draft.body()));
        match answer.await {
            Ok(answer) => {
                let verdict: Verdict =
                    serde_json::from_value(answer).map_err(|_| Problem::internal())?;
                let outcome = Outcome::of(verdict, &draft.policy);
                shown(&request, draft, Some(outcome), None)
            }
            // What can be mended, or tried again, is shown with what was typed.
            Err(problem) if matches!(problem.status, 400 | 413 | 422 | 429 | 503) => {
                shown(&request, draft, None, Some(problem))
            }
            Err(problem) => Err(problem),
        }
    })
}

fn shown(
    request: &Request<'_>,
    draft: Draft,
    outcome: Option<Outcome>,
    problem: Option<Problem>,
) -> Result<Reply, Problem> {
    let status = problem.as_ref().map_or(200, |problem| problem.status);
    let page = PlaygroundPage {
        frame: request.frame("Playground").with_script(Script::Editor),
        csrf: &request.person().csrf,
        draft,
        outcome,
        problem: problem.map(|problem| sentence(&problem.message)),
    };
    page_with(status, &page)
}

#[cfg(test)]
mod tests;
