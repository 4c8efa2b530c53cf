//! All calls. Each is defined where it is answered, with what it needs; this is the list of lists.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hyper::{Method, StatusCode};
use portcullis_config::Service;

use super::access::DESCRIBES;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, Verb, get, schema_of};
use super::path::{self, PathValues};
use super::{
    authorizations, autohold, candidates, ci, decisions, description, graph, home, info, openapi,
    pipeline, playground, policies, replays, roles, sessions, sign_in, state, status, tenant,
};
use crate::http::answer::Answer;
use crate::http::error::json;

/// Every call, by where it is answered.
const GROUPS: &[&[Endpoint]] = &[
    info::ENDPOINTS,
    authorizations::ENDPOINTS,
    tenant::ENDPOINTS,
    state::ENDPOINTS,
    autohold::ENDPOINTS,
    pipeline::ENDPOINTS,
    decisions::ENDPOINTS,
    replays::ENDPOINTS,
    policies::ENDPOINTS,
    candidates::ENDPOINTS,
    playground::ENDPOINTS,
    status::ENDPOINTS,
    roles::ENDPOINTS,
    graph::ENDPOINTS,
    sign_in::ENDPOINTS,
    sign_in::form::ENDPOINTS,
    sign_in::link::ENDPOINTS,
    sessions::ENDPOINTS,
    home::ENDPOINTS,
    description::ENDPOINTS,
    ENDPOINTS,
];

/// The machine-readable description of all of them.
const ENDPOINTS: &[Endpoint] = &[get(
    ("/openapi.json", "openapi"),
    Tag::Description,
    DESCRIBES,
    ("Show this API description", ""),
    Success::Json {
        description: "OpenAPI 3.1.",
        schema: schema_of::<serde_json::Map<String, serde_json::Value>>,
    },
    openapi,
)
.with_web()];

/// `GET /openapi.json`
fn openapi(_: Call<'_>) -> Answering<'_> {
    static TEXT: LazyLock<String> = LazyLock::new(|| openapi::text(all()));
    Box::pin(async move {
        let mut response = json(StatusCode::OK, Vec::new());
        *response.body_mut() = Answer::whole(TEXT.as_bytes());
        Ok(response)
    })
}

/// Every call there is. A path that fits several is the first one's.
pub(crate) fn all() -> impl Iterator<Item = &'static Endpoint> + Clone {
    GROUPS.iter().chain(ci::GROUPS).copied().flatten()
}

/// What a request is for.
#[derive(Debug)]
pub(crate) enum Found {
    /// This call.
    Endpoint(&'static Endpoint, PathValues),
    /// A path with other methods: these.
    WrongMethod(&'static str),
    /// Nothing.
    Nothing,
}

/// What a request is for, at a listener that serves this.
pub(crate) fn find(method: &Method, path: &str, serves: &[Service]) -> Found {
    let mut others: Option<&'static Endpoint> = None;
    // The assets of the page are not calls of their own.
    let path = if path.starts_with("/docs/") {
        "/docs"
    } else {
        path
    };
    let is_served = |e: &&Endpoint| e.services.iter().any(|one| serves.contains(one));
    for endpoint in all().filter(is_served) {
        let Some(values) = path::fit(endpoint.path, path) else {
            continue;
        };
        if endpoint.method.takes(method) {
            return Found::Endpoint(endpoint, values);
        }
        others = others.or(Some(endpoint));
    }
    others.map_or(Found::Nothing, |one| Found::WrongMethod(methods(one.path)))
}

/// The methods that a path takes.
fn methods(path: &str) -> &'static str {
    static METHODS: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(|| {
        let paths = all().map(|endpoint| endpoint.path);
        paths.map(|path| (path, taken_by(path))).collect()
    });
    METHODS.get(path).map_or("", String::as_str)
}

fn taken_by(path: &str) -> String {
    let words = [
        (Verb::Get, "GET, HEAD"),
        (Verb::Post, "POST"),
        (Verb::Put, "PUT"),
        (Verb::Patch, "PATCH"),
        (Verb::Delete, "DELETE"),
    ];
    let has = |verb| all().any(|e| e.path == path && e.method == verb);
    let taken = words.into_iter().filter(|(verb, _)| has(*verb));
    let taken: Vec<&str> = taken.map(|(_, word)| word).collect();
    taken.join(", ")
}

#[cfg(test)]
mod tests;
