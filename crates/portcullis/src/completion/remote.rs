//! Names on a running server, over its REST API.

use portcullis_core::percent::encoded;
use serde_json::Value;

use super::Candidate;
use super::words::Words;
use crate::client::{ApiRequest, Client, ServerAccess};

/// Whether a server is named, on the command line or by the environment.
pub(super) fn is_named(words: &Words) -> bool {
    access(words).is_some()
}

/// Tenants that the caller may see.
pub(super) fn tenants(words: &Words) -> Vec<Candidate> {
    listed(words, "/api/tenants", "name", &[])
}

/// The newest CI jobs.
pub(super) fn jobs(words: &Words) -> Vec<Candidate> {
    listed(
        words,
        "/api/v1/jobs?limit=50",
        "id",
        &["status", "name", "project"],
    )
}

/// Admission controllers of CI jobs.
pub(super) fn controllers(words: &Words) -> Vec<Candidate> {
    listed(words, "/api/v1/controllers", "id", &["name", "state"])
}

/// What was sent to admission controllers.
pub(super) fn deliveries(words: &Words) -> Vec<Candidate> {
    listed(
        words,
        "/api/v1/deliveries",
        "id",
        &["state", "controller_name"],
    )
}

/// Runners of CI jobs.
pub(super) fn runners(words: &Words) -> Vec<Candidate> {
    listed(
        words,
        "/api/v1/runners",
        "id",
        &["description", "runner_type"],
    )
}

/// Holds of the tenant that is named.
pub(super) fn holds(words: &Words) -> Vec<Candidate> {
    let Some(tenant) = words.tenant() else {
        return Vec::new();
    };
    let path = format!("/api/tenant/{}/autohold", encoded(&tenant));
    listed(words, &path, "id", &["project", "job"])
}

fn access(words: &Words) -> Option<ServerAccess> {
    let server = words.server();
    let given = ServerAccess::given(
        server.server.as_deref(),
        server.token.as_ref(),
        server.ca.as_ref(),
    );
    given.ok().flatten()
}

/// The same for names that are on servers alone: the current context counts, too.
fn any_access(words: &Words) -> Option<ServerAccess> {
    let server = words.server();
    let required = ServerAccess::required(
        server.server.as_deref(),
        server.token.as_ref(),
        server.ca.as_ref(),
    );
    required.ok()
}

/// The members of a list: the one that identifies an item, and those that describe it.
fn listed(words: &Words, path: &str, id: &str, about: &[&str]) -> Vec<Candidate> {
    let client = any_access(words).and_then(|access| Client::new(&access).ok());
    let answer = client.and_then(|mut client| client.ask(ApiRequest::get(path)).ok());
    let value: Value = answer
        .and_then(|answer| serde_json::from_slice(&answer).ok())
        .unwrap_or_default();
    let items = value.get("items").unwrap_or(&value).as_array();
    let text = |item: &Value, key: &str| match item.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let candidate = |item: &Value| {
        let about: Vec<String> = about.iter().filter_map(|key| text(item, key)).collect();
        Some((text(item, id)?, about.join(" ")))
    };
    items.into_iter().flatten().filter_map(candidate).collect()
}
