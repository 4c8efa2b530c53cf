//! Who may do what, and why: one's own rows, and everyone's where one is an administrator.

mod check;

use std::collections::BTreeMap;

use portcullis_core::Identity;
use portcullis_roles::{MatrixRow, Permission, Scope, Tenant};
use schemars::JsonSchema;
use serde::Serialize;

use super::access::Access;
use super::answer;
use super::authorizations::{PermittedAnswer, permitted};
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use super::query::Query;

/// Rules and roles as far as the caller may see them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RolesAnswer {
    /// Who the caller is.
    user: String,
    /// The root of the API, and tenants where the caller has a role or may read.
    places: Vec<PlaceAnswer>,
    /// All permissions there are.
    permissions: Vec<PermissionAnswer>,
}

/// Where roles count.
#[derive(Debug, Serialize, JsonSchema)]
struct PlaceAnswer {
    /// The tenant; `null` for the root of the API.
    tenant: Option<String>,
    /// Whether the caller may do everything here, and sees all rules.
    is_admin: bool,
    /// Whether anyone may read here.
    anonymous_read: bool,
    /// The rules, in the order of the mapping: all of them for administrators, otherwise those that match the caller.
    rules: Vec<RuleAnswer>,
}

/// A rule, and what it gives.
#[derive(Debug, Serialize, JsonSchema)]
struct RuleAnswer {
    /// The name of the rule.
    name: String,
    /// Whether it matches the caller.
    is_own: bool,
    /// What it requires of the claims of a token; for administrators.
    requires: Option<String>,
    /// The roles it has here.
    roles: Vec<String>,
    /// What they permit: `true`, or the grants.
    permissions: BTreeMap<&'static str, PermittedAnswer>,
}

/// A permission.
#[derive(Debug, Serialize, JsonSchema)]
struct PermissionAnswer {
    /// The name.
    name: &'static str,
    /// What it may depend on.
    conditions: Vec<&'static str>,
}

/// What callers may ask about roles.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    get(
        ("/api/v1/roles", "roles"),
        Tag::Tenants,
        Access::SignedIn(
            "shows the caller's own rules and roles, and all of them to administrators",
        ),
        (
            "List rules and roles",
            "The caller's own, and in places where the caller has the role `admin`, all of them.",
        ),
        Success::Json {
            description: "Rules, roles and permissions, by where they count.",
            schema: schema_of::<RolesAnswer>,
        },
        list,
    ),
    check::ENDPOINT,
];

/// `GET /api/v1/roles`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let who = call.somebody()?;
        Query::of(call.head).done()?;
        let roles = &call.gate.access.roles;
        let tenants = roles.tenants().map(Tenant::scope);
        let tenants = tenants.filter(|scope| is_seen(scope, who));
        let scopes = std::iter::once(roles.root()).chain(tenants);
        answer::ok(&RolesAnswer {
            user: who.uid.clone(),
            places: scopes.map(|scope| place(scope, who)).collect(),
            permissions: Permission::ALL.iter().map(permission).collect(),
        })
    })
}

/// Whether a caller has anything there.
fn is_seen(scope: &Scope, who: &Identity) -> bool {
    let here = scope.effective(Some(who));
    here.is_admin || !here.roles.is_empty() || !here.permissions.is_empty()
}

fn place(scope: &Scope, who: &Identity) -> PlaceAnswer {
    let here = scope.effective(Some(who));
    let matrix = scope.matrix();
    let rules = matrix.rows.into_iter().filter_map(|row| {
        let is_own = here.rules.contains(&row.rule);
        (is_own || here.is_admin).then(|| rule(row, is_own, here.is_admin))
    });
    PlaceAnswer {
        tenant: scope.tenant().map(str::to_owned),
        is_admin: here.is_admin,
        anonymous_read: matrix.anonymous_read,
        rules: rules.collect(),
    }
}

fn rule(row: MatrixRow, is_own: bool, shows_all: bool) -> RuleAnswer {
    let permissions = row.permissions.into_iter();
    RuleAnswer {
        name: row.rule,
        is_own,
        requires: shows_all.then_some(row.asks),
        roles: row.roles,
        permissions: permissions
            .map(|(permission, how)| (permission.name(), permitted(how)))
            .collect(),
    }
}

fn permission(permission: &Permission) -> PermissionAnswer {
    let conditions = permission.conditions().iter();
    PermissionAnswer {
        name: permission.name(),
        conditions: conditions.map(|condition| condition.name()).collect(),
    }
}
