//! What the caller may do.

use std::collections::BTreeMap;

use portcullis_roles::{
    AccessDecision, Effective, Grant, Parameters, Permission, Permitted, Scope,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::access::Access;
use super::answer;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use crate::http::Response;
use crate::http::error::HttpError;

/// What the caller may do in one place.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Authorizations {
    zuul: Zuul,
    /// By permission: `true`, or the grants. Permissions that are not granted are absent.
    permissions: BTreeMap<&'static str, PermittedAnswer>,
    /// The rules that match the caller here.
    rules: Vec<String>,
    /// The roles that the caller has here.
    roles: Vec<String>,
    /// Who the caller is.
    user: String,
}

/// The same in Zuul's format.
#[derive(Debug, Serialize, JsonSchema)]
struct Zuul {
    /// Whether the caller may do everything here.
    admin: bool,
    /// The tenant, or `*` for the root of the API.
    scope: Vec<String>,
}

/// Whether an action is permitted, and on which conditions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum PermittedAnswer {
    /// Always: `true`.
    Always(bool),
    /// In any of these ways.
    When(Vec<GrantAnswer>),
}

/// A grant of a permission.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GrantAnswer {
    /// The rule that matches the caller.
    rule: String,
    /// The role that the rule has.
    role: String,
    /// The conditions: a value, or a list of alternatives.
    conditions: BTreeMap<&'static str, Value>,
}

/// What callers may ask about themselves.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    get(
        ("/api/authorizations", "rootAuthorizations"),
        Tag::Tenants,
        Access::SignedIn("shows what the caller may do on the whole instance"),
        ("Show the caller's permissions on the whole instance", ""),
        Success::Json {
            description: "What the caller may do, and why.",
            schema: schema_of::<Authorizations>,
        },
        root,
    ),
    get(
        (
            "/api/tenant/{tenant}/authorizations",
            "tenantAuthorizations",
        ),
        Tag::Tenants,
        Access::SignedIn(
            "shows what the caller may do in the tenant; needs at least one role there, or read access",
        ),
        ("Show the caller's permissions in a tenant", ""),
        Success::Json {
            description: "What the caller may do, and why.",
            schema: schema_of::<Authorizations>,
        },
        tenant,
    ),
];

/// `GET /api/authorizations`
pub(super) fn root(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.somebody()?;
        authorizations(&call, call.gate.access.roles.root())
    })
}

/// `GET /api/tenant/{tenant}/authorizations`
pub(super) fn tenant(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.somebody()?;
        authorizations(&call, call.tenant()?.scope())
    })
}

fn authorizations(call: &Call<'_>, scope: &Scope) -> Result<Response, HttpError> {
    let who = call.somebody()?;
    let Effective {
        is_admin,
        roles,
        rules,
        permissions,
    } = scope.effective(Some(who));
    if roles.is_empty() && permissions.is_empty() {
        let answer = scope.check(Some(who), Permission::Read, &Parameters::new());
        if let AccessDecision::Refused(refusal) = answer {
            return Err(call.refused(Some(scope), (Permission::Read, &Parameters::new()), refusal));
        }
    }
    let permissions = permissions.into_iter();
    let permissions = permissions.map(|(permission, how)| (permission.name(), permitted(how)));
    answer::ok(&Authorizations {
        zuul: Zuul {
            admin: is_admin,
            scope: vec![scope.tenant().unwrap_or("*").to_owned()],
        },
        permissions: permissions.collect(),
        rules,
        roles,
        user: who.uid.clone(),
    })
}

/// How far something is permitted.
pub(super) fn permitted(permitted: Permitted) -> PermittedAnswer {
    match permitted {
        Permitted::Always => PermittedAnswer::Always(true),
        Permitted::When(grants) => PermittedAnswer::When(grants.into_iter().map(grant).collect()),
    }
}

fn grant(grant: Grant) -> GrantAnswer {
    let conditions = grant.conditions.into_iter();
    GrantAnswer {
        rule: grant.rule,
        role: grant.role,
        conditions: conditions
            .map(|(condition, wanted)| (condition.name(), wanted))
            .collect(),
    }
}
