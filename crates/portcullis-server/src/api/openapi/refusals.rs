//! The error responses: those that follow from the definition of a call, and its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::parameters;
use super::schemas::Schemas;
use crate::api::access::Access;
use crate::api::endpoint::{Endpoint, schema_of};
use crate::api::refusal::ForbiddenDetails;
use crate::http::error::ErrorBody;

/// An error response that follows from the definition of a call.
struct Common {
    status: u16,
    /// Its name among the shared answers.
    name: &'static str,
    description: &'static str,
    /// Which calls answer it.
    of: fn(&Endpoint) -> bool,
}

const COMMON: &[Common] = &[
    Common {
        status: 400,
        name: "Malformed",
        description: "The request is malformed, or has several credentials. `error.details` has the line and \
            column of a fault in the body.",
        of: |call| is_guarded(call) || takes_something(call),
    },
    Common {
        status: 401,
        name: "Unauthorized",
        description: "The caller is not authenticated. `error.code` says why: `missing_token`, `invalid_format`, \
            `undecodable`, `bad_signature`, `expired`, `not_yet_valid`, `wrong_audience`, `unknown_issuer`, \
            `missing_claim`, `bad_admin_claim` or `admin_claim_not_allowed`.",
        of: is_guarded,
    },
    Common {
        status: 403,
        name: "Forbidden",
        description: "The caller may not do this. `error.details` says what was missing.",
        of: is_guarded,
    },
    Common {
        status: 404,
        name: "NotFound",
        description: "Not found.",
        of: |call| names_something(call) && !names_tenant(call),
    },
    Common {
        status: 404,
        name: "NotFoundInTenant",
        description: "Not found. Only callers who may read the root of the API learn that a tenant does not exist; \
            to others it looks like one they may not see.",
        of: names_tenant,
    },
    Common {
        status: 408,
        name: "TooSlow",
        description: "The body did not arrive in time.",
        of: takes_body,
    },
    Common {
        status: 413,
        name: "TooLarge",
        description: "The body is larger than the limit.",
        of: takes_body,
    },
    Common {
        status: 415,
        name: "UnsupportedMediaType",
        description: "The body is not `application/json`.",
        of: |call| call.body.is_some(),
    },
    Common {
        status: 503,
        name: "Unavailable",
        description: "Temporarily unavailable. Try again later.",
        of: is_guarded,
    },
];

fn is_guarded(call: &Endpoint) -> bool {
    !matches!(call.access, Access::Public(_) | Access::Credential(_))
}

fn takes_body(call: &Endpoint) -> bool {
    call.body.is_some() || call.upload.is_some()
}

fn takes_something(call: &Endpoint) -> bool {
    takes_body(call) || !call.query.is_empty() || names_something(call)
}

fn names_something(call: &Endpoint) -> bool {
    parameters::names(call.path).next().is_some()
}

fn names_tenant(call: &Endpoint) -> bool {
    parameters::names(call.path).any(|name| name == "tenant")
}

/// The error responses that calls share, for `components.responses`.
pub(super) fn shared(schemas: &mut Schemas) -> Value {
    COMMON
        .iter()
        .map(|common| {
            (
                common.name.to_owned(),
                refusal(common.status, common.description, schemas),
            )
        })
        .collect::<Map<_, _>>()
        .into()
}

/// All error responses of a call, by status.
pub(super) fn describe(endpoint: &Endpoint, schemas: &mut Schemas) -> Map<String, Value> {
    let mut own = BTreeMap::<u16, Vec<&str>>::new();
    for (status, description) in endpoint.refusals {
        own.entry(*status).or_default().push(description);
    }
    let mut refusals = Map::new();
    for common in COMMON.iter().filter(|common| (common.of)(endpoint)) {
        let described = match own.get_mut(&common.status) {
            None => json!({"$ref": format!("#/components/responses/{}", common.name)}),
            Some(descriptions) => {
                descriptions.push(common.description);
                continue;
            }
        };
        refusals.insert(common.status.to_string(), described);
    }
    for (status, descriptions) in own {
        let described = refusal(status, &descriptions.join("\n\n"), schemas);
        refusals.insert(status.to_string(), described);
    }
    refusals
}

fn refusal(status: u16, description: &str, schemas: &mut Schemas) -> Value {
    let mut schema = schemas.given(schema_of::<ErrorBody<'static>>);
    if status == 403 {
        let details = schemas.given(schema_of::<ForbiddenDetails>);
        schema = json!({"allOf": [schema, {"properties": {"error": {"properties": {"details": details}}}}]});
    }
    let mut refusal = json!({
        "description": description,
        "content": {"application/json": {"schema": schema}},
    });
    if let (Some(headers), Some(members)) = (headers(status), refusal.as_object_mut()) {
        members.insert("headers".to_owned(), headers);
    }
    refusal
}

fn headers(status: u16) -> Option<Value> {
    match status {
        401 => Some(json!({"WWW-Authenticate": {
            "description": "The authentication challenge (RFC 6750).",
            "required": true,
            "schema": {"type": "string"},
            "example": "Bearer realm=\"portcullis\", error=\"invalid_token\"",
        }})),
        429 | 503 => Some(json!({"Retry-After": {
            "description": "The number of seconds to wait before trying again.",
            "schema": {"type": "integer", "minimum": 0},
            "example": 1,
        }})),
        _ => None,
    }
}
