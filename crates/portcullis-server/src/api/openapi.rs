//! The description of the API in `OpenAPI` 3.1, made from the list of its calls.
//!
//! `schema/openapi.json` at the top of the repository is this text, and `/openapi.json` answers it.

mod access;
mod operation;
mod parameters;
mod refusals;
mod schemas;
mod tags;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::schemas::Schemas;
use super::endpoint::{Endpoint, Verb};

/// What there is to know before the first call, in Markdown.
const INTRODUCTION: &str = "\
**Authentication.** Send a JSON Web Token of a configured authenticator as `Authorization: Bearer TOKEN`, or sign \
in with the browser at `/auth/login`. Where they are configured, client certificates and the users behind unix \
sockets are accepted as well. More than one `Authorization` header is an error.

**Authorization.** Rules identify callers, roles grant permissions, and tenants map rules to roles. Every call below \
names the permission it needs and the conditions that roles may put on it. What is not granted is denied, and the \
error says what was missing. `GET /api/tenant/{tenant}/authorizations` shows your permissions.

**Errors** have one shape at every path: `{\"error\": {\"code\", \"message\", \"details\"}, \"request_id\"}`. \
Besides those listed with a call, every path may answer 405 to a method it does not support, 408 to a request that \
arrives too slowly, and 431 to headers that are too large.

**HEAD** is supported wherever GET is.";

/// The description of these calls, as it is served and committed.
pub(crate) fn text<'a>(endpoints: impl IntoIterator<Item = &'a Endpoint> + Clone) -> String {
    format!("{:#}\n", document(endpoints))
}

/// The description of these calls. Keys are sorted, so that the text is the same in every build.
pub(crate) fn document<'a>(endpoints: impl IntoIterator<Item = &'a Endpoint> + Clone) -> Value {
    let mut schemas = Schemas::new();
    let mut paths = BTreeMap::<&str, Map<String, Value>>::new();
    for endpoint in endpoints.clone() {
        let operation = operation::describe(endpoint, &mut schemas);
        let method = method(endpoint.method).to_owned();
        paths
            .entry(endpoint.path)
            .or_default()
            .insert(method, operation);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Portcullis",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Admission and authorization controller for Kubernetes.",
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This server"}],
        "tags": tags::describe(endpoints),
        "security": access::signed_in(),
        "paths": paths,
        "components": {
            "securitySchemes": access::schemes(),
            "responses": refusals::shared(&mut schemas),
        },
    });
    schemas.finish(&mut document);
    document.sort_all_objects();
    document
}

/// The name of a method among those of a path.
fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
        Verb::Put => "put",
        Verb::Patch => "patch",
        Verb::Delete => "delete",
    }
}
