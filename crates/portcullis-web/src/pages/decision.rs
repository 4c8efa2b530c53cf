//! One decision: the verdict and its sentence first, then what was considered, changed and asked.

use serde::Deserialize;
use serde_json::Value;

use super::decisions::Summary;
use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;
use crate::shown::{pretty, sentence};

pub(super) const ROUTES: &[Route] = &[Route::page("/decisions/*", show)];

/// The whole record.
#[derive(Debug, Deserialize)]
struct Record {
    #[serde(flatten)]
    summary: Summary,
    #[serde(default)]
    patch: Vec<Operation>,
    #[serde(default)]
    trace: Vec<Step>,
    #[serde(default)]
    input: Value,
}

/// One operation of a JSON Patch.
#[derive(Debug, Deserialize)]
struct Operation {
    op: String,
    path: String,
    #[serde(default)]
    value: Option<Value>,
}

/// One that was asked.
#[derive(Debug, Deserialize)]
struct Step {
    plugin: String,
    #[serde(default)]
    phase: String,
    outcome: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    duration_us: u64,
    #[serde(default)]
    policies: Vec<PolicyStep>,
}

#[derive(Debug, Deserialize)]
struct PolicyStep {
    name: String,
    #[serde(default)]
    mode: String,
    outcome: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    line: Option<u64>,
}

/// A line of the difference.
#[derive(Debug)]
struct Change {
    class: &'static str,
    sign: &'static str,
    word: &'static str,
    path: String,
    value: String,
}

#[derive(Debug, askama::Template)]
#[template(path = "decision.html")]
struct DecisionPage {
    frame: Frame,
    one: Summary,
    sentence: String,
    same_user: String,
    policy: Option<(String, String)>,
    changes: Vec<Change>,
    steps: Vec<Step>,
    input: String,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let path = format!("/api/v1/decisions/{}", segment(request.value(0)));
        let record: Record = request.backend.get(&path).await?;
        let one = record.summary;
        let word = match one.verdict.as_str() {
            "deny" => "Denied",
            _ => "Allowed",
        };
        let title = format!("{word}: {} {} {}", one.operation, one.kind, one.place());
        let same_user = Query::default().with("user", &one.user).of("/decisions");
        // Only policies have a page of their own; the API names a role here.
        let policy = one.policy.clone().filter(|_| one.door != "api");
        let policy = policy.map(|name| (format!("/policies/{}", segment(&name)), name));
        page(&DecisionPage {
            frame: request.frame(title.trim()),
            sentence: sentence(&one.message),
            same_user,
            policy,
            changes: record.patch.into_iter().map(change).collect(),
            steps: record.trace,
            input: pretty(&record.input),
            one,
        })
    })
}

fn change(operation: Operation) -> Change {
    let (class, sign, word) = match operation.op.as_str() {
        "add" => ("added", "+", "added"),
        "remove" => ("removed", "−", "removed"),
        "replace" => ("replaced", "~", "replaced"),
        _ => ("replaced", "→", "moved"),
    };
    let value = operation.value.map(|value| value.to_string());
    Change {
        class,
        sign,
        word,
        path: operation.path,
        value: value.unwrap_or_default(),
    }
}
