//! A candidate set: several policies changed, added or removed at once, and what that would have changed in recorded
//! decisions.
//!
//! Everything works without scripts: the form is sent for each step, and the same page comes back with what was filled
//! in. What is chosen and typed is in its fields alone.

mod draft;

use serde::Deserialize;

use self::draft::{Draft, Step};
use super::candidate_report::Report;
use super::playground;
use crate::backend::{Backend, Pending, Problem, Verb};
use crate::frame::Frame;
use crate::query::segment;
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::script::Script;
use crate::shown::sentence;

pub(super) const ROUTES: &[Route] = &[Route::asking("/replay", show, send)];

const CALL: &str = "/api/v1/replay";

/// The policies in force, in their order.
#[derive(Debug, Deserialize)]
struct InForce {
    items: Vec<Policy>,
}

/// One of them.
#[derive(Debug, Deserialize)]
struct Policy {
    name: String,
    mode: String,
}

/// Its text.
#[derive(Debug, Deserialize)]
struct Text {
    text: String,
}

#[derive(Debug, askama::Template)]
#[template(path = "candidate_set.html")]
struct SetPage<'a> {
    frame: Frame,
    csrf: &'a str,
    draft: Draft,
    report: Option<Report>,
    problem: Option<String>,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(&["policy"])?;
        if let Some(reply) = playground::closed(&request)? {
            return Ok(reply);
        }
        let mut draft = Draft::of(&in_force(request.backend).await?);
        if !query.get("policy").is_empty() && !draft.choose(query.get("policy")) {
            return Err(Problem::not_found("unknown policy"));
        }
        shown(&request, draft, None, None).await
    })
}

fn send(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        if let Some(reply) = playground::closed(&request)? {
            return Ok(reply);
        }
        let mut draft = Draft::sent(&request, &in_force(request.backend).await?);
        match draft.step {
            Step::Sources => shown(&request, draft, None, None).await,
            Step::Add => {
                draft.add();
                shown(&request, draft, None, None).await
            }
            Step::Replay => replay(&request, draft).await,
        }
    })
}

async fn replay(request: &Request<'_>, mut draft: Draft) -> Result<Reply, Problem> {
    // Who replays at once changes what is in force.
    fill(request.backend, &mut draft).await?;
    let answer = request.backend.call(Verb::Post, CALL, Some(draft.body()));
    match answer.await {
        Ok(answer) => {
            let report = serde_json::from_value(answer).map_err(|_| Problem::internal())?;
            shown(request, draft, Some(report), None).await
        }
        Err(problem) if matches!(problem.status, 400 | 413 | 422 | 429 | 503) => {
            shown(request, draft, None, Some(problem)).await
        }
        Err(problem) => Err(problem),
    }
}

/// The page with what was filled in, and what came of it.
async fn shown(
    request: &Request<'_>,
    mut draft: Draft,
    report: Option<Report>,
    problem: Option<Problem>,
) -> Result<Reply, Problem> {
    fill(request.backend, &mut draft).await?;
    let status = problem.as_ref().map_or(200, |problem| problem.status);
    let frame = request.frame("Candidate set");
    let page = SetPage {
        frame: match draft.has_texts() {
            true => frame.with_script(Script::Editor),
            false => frame,
        },
        csrf: &request.person().csrf,
        draft,
        report,
        problem: problem.map(|problem| sentence(&problem.message)),
    };
    page_with(status, &page)
}

async fn in_force(backend: &dyn Backend) -> Result<Vec<Policy>, Problem> {
    let found: InForce = backend.get("/api/v1/policies").await?;
    Ok(found.items)
}

/// Policies that are to have another source begin with the one in force.
async fn fill(backend: &dyn Backend, draft: &mut Draft) -> Result<(), Problem> {
    for row in draft.without_text() {
        let path = format!("/api/v1/policies/{}", segment(&row.name));
        let found: Text = backend.get(&path).await?;
        row.text = Some(found.text);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
