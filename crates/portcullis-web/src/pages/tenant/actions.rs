//! What operators do on the page of a tenant.

use serde_json::{Map, Value, json};

use super::{Hold, again};
use crate::ask::{CONFIRMED, Question, ask};
use crate::backend::{Pending, Problem, Verb};
use crate::query::segment;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::Route;

pub(in crate::pages) const ROUTES: &[Route] = &[
    Route::form("/tenants/*/state", set_state),
    Route::form("/tenants/*/holds", place_hold),
    Route::asking("/tenants/*/holds/*/release", ask_release, release),
    Route::form("/tenants/*/enqueue", enqueue),
    Route::asking("/tenants/*/dequeue", ask_dequeue, dequeue),
    Route::form("/tenants/*/promote", promote),
];

/// What names a run, in the query of a button.
const RUN: &[&str] = &["project", "pipeline", "change", "ref"];

/// The page of the tenant.
fn back(request: &Request<'_>) -> String {
    format!("/tenants/{}", segment(request.value(0)))
}

/// The tenant in the API.
fn api(request: &Request<'_>) -> String {
    format!("/api/tenant/{}", segment(request.value(0)))
}

/// Calls the API, and goes back to the page; what was filled in wrongly is shown again.
async fn done(request: &Request<'_>, path: String, body: Value) -> Result<Reply, Problem> {
    let called = request.backend.call(Verb::Post, &path, Some(body)).await;
    match called {
        Ok(_) => Ok(Reply::SeeOther(back(request))),
        Err(problem) if matches!(problem.status, 400 | 404 | 409 | 422) => {
            again(request, problem).await
        }
        Err(problem) => Err(problem),
    }
}

fn set_state(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let discards = !request.field("trigger_queue_discarding").is_empty();
        if discards && request.field(CONFIRMED).is_empty() {
            return ask(&request, &about_discarding(&request));
        }
        let mut body = request.fields(&["reason"]);
        for name in [
            "trigger_queue_paused",
            "trigger_queue_discarding",
            "result_queue_paused",
        ] {
            body.insert(name.to_owned(), json!(!request.field(name).is_empty()));
        }
        match request.number("minutes") {
            Ok(Some(minutes)) => {
                body.insert("expires_in".to_owned(), json!(minutes.saturating_mul(60)));
            }
            Ok(None) => {}
            Err(problem) => return again(&request, problem).await,
        }
        let path = format!("{}/state", api(&request));
        done(&request, path, Value::Object(body)).await
    })
}

fn about_discarding(request: &Request<'_>) -> Question {
    let tenant = request.value(0);
    Question {
        title: format!("Discard new pipelines of {tenant}?"),
        text: format!(
            "New pipelines of tenant {tenant} are rejected until this is turned off. They are not kept: whoever submits them has \
             to submit them again."
        ),
        label: "Discard new pipelines",
        back: back(request),
    }
}

fn place_hold(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let project = request.field("project").to_owned();
        for name in ["project", "job", "reason"] {
            if request.field(name).is_empty() {
                let missing = Problem::bad_request(format!("{name} is missing"));
                return again(&request, missing).await;
            }
        }
        let mut body = request.fields(&["job", "reason", "change", "ref"]);
        match request.number("count") {
            Ok(count) => {
                body.insert("count".to_owned(), json!(count.unwrap_or(1)));
            }
            Err(problem) => return again(&request, problem).await,
        }
        let path = format!("{}/project/{}/autohold", api(&request), segment(&project));
        done(&request, path, Value::Object(body)).await
    })
}

fn ask_release(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let path = format!("{}/autohold/{}", api(&request), segment(request.value(1)));
        let hold: Hold = request.backend.get(&path).await?;
        let question = Question {
            title: format!("Release hold {}", hold.id),
            text: format!(
                "Release the hold of job {} in project {} ({})? Its runners take other jobs again.",
                hold.job, hold.project, hold.reason
            ),
            label: "Release",
            back: back(&request),
        };
        ask(&request, &question)
    })
}

fn release(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let path = format!("{}/autohold/{}", api(&request), segment(request.value(1)));
        request.backend.call(Verb::Delete, &path, None).await?;
        Ok(Reply::SeeOther(back(&request)))
    })
}

/// What names a run, from the form or the query of its button.
fn run(request: &Request<'_>) -> Result<(String, Map<String, Value>), Problem> {
    let query = request.query(RUN)?;
    let given = |name: &str| match request.field(name) {
        "" => query.get(name).to_owned(),
        typed => typed.to_owned(),
    };
    let named = ["pipeline", "change", "ref"].map(|name| (name, given(name)));
    let body = named.into_iter().filter(|(_, value)| !value.is_empty());
    let body = body.map(|(name, value)| (name.to_owned(), Value::from(value)));
    Ok((given("project"), body.collect()))
}

async fn act(request: &Request<'_>, verb: &str) -> Result<Reply, Problem> {
    let (project, body) = run(request)?;
    if project.is_empty() {
        return again(request, Problem::bad_request("project is missing")).await;
    }
    let path = format!("{}/project/{}/{verb}", api(request), segment(&project));
    done(request, path, Value::Object(body)).await
}

fn enqueue(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { act(&request, "enqueue").await })
}

fn ask_dequeue(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(RUN)?;
        let what = match query.get("change") {
            "" => query.get("ref"),
            change => change,
        };
        let question = Question {
            title: format!("Dequeue {what}"),
            text: format!(
                "Dequeue {what} of project {} from pipeline {}? Its jobs that are not finished are canceled.",
                query.get("project"),
                query.get("pipeline")
            ),
            label: "Dequeue",
            back: back(&request),
        };
        ask(&request, &question)
    })
}

fn dequeue(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move { act(&request, "dequeue").await })
}

fn promote(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let (_, body) = run(&request)?;
        let pipeline = body.get("pipeline").cloned().unwrap_or_default();
        let change = body.get("change").cloned().unwrap_or_default();
        let body = json!({"pipeline": pipeline, "changes": [change]});
        let path = format!("{}/promote", api(&request));
        done(&request, path, body).await
    })
}
