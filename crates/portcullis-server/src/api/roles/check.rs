//! Whether the caller may do something, and why, without doing it.

use portcullis_core::Identity;
use portcullis_roles::{
    AccessDecision, Basis, Condition, Parameters, Permission, Project, Refusal, Scope, Tenant,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::access::Access;
use super::super::answer;
use super::super::call::{Answering, Call};
use super::super::endpoint::{Endpoint, Success, Tag, get, schema_of, text};
use super::super::query::Query;
use super::super::refusal::sentence;
use crate::http::error::HttpError;

/// Whether the caller may do something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RoleCheck {
    /// The permission.
    permission: &'static str,
    /// The tenant; `null` for the root of the API.
    tenant: Option<String>,
    /// Whether the caller may.
    allowed: bool,
    /// Why, in words.
    reason: String,
    /// The rule that allows it.
    rule: Option<String>,
    /// The role that allows it.
    role: Option<String>,
}

/// The call.
pub(super) const ENDPOINT: Endpoint = Endpoint {
    query: &[
        text("permission", "The permission. Required.", "submit-job"),
        text(
            "tenant",
            "The tenant; by default the root of the API.",
            "example",
        ),
        text("project", "The project.", "org/project"),
        text("pipeline", "The pipeline.", "check"),
        text("ref", "The git reference.", "refs/heads/main"),
        text("change", "The change.", "12,1"),
        text("job", "The name of the job.", "unit"),
        text(
            "controller",
            "The name of the admission controller.",
            "scan",
        ),
    ],
    refusals: &[(404, "The tenant is unknown.")],
    ..get(
        ("/api/v1/roles/check", "checkRoles"),
        Tag::Tenants,
        Access::SignedIn("shows whether the caller may do something, and does nothing"),
        (
            "Check whether the caller may do something",
            "Nothing is done, and nothing is recorded.",
        ),
        Success::Json {
            description: "Whether the caller may, and why.",
            schema: schema_of::<RoleCheck>,
        },
        check,
    )
};

/// `GET /api/v1/roles/check`
fn check(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let who = call.somebody()?;
        let mut query = Query::of(call.head);
        let permission = permission(&mut query)?;
        let tenant = query.take("tenant")?.filter(|name| !name.is_empty());
        let mut given = Vec::new();
        for condition in Condition::ALL {
            let value = query.take(condition.name())?;
            given.extend(value.filter(|v| !v.is_empty()).map(|v| (*condition, v)));
        }
        query.done()?;
        let answer = match &tenant {
            None => decide(
                call.gate.access.roles.root(),
                who,
                permission,
                (&given, None),
            ),
            Some(name) => in_tenant(&call, who, name, permission, &given)?,
        };
        answer::ok(&described(answer, permission, tenant))
    })
}

fn permission(query: &mut Query) -> Result<Permission, HttpError> {
    let Some(name) = query.take("permission")?.filter(|name| !name.is_empty()) else {
        return Err(HttpError::bad_request("permission is required"));
    };
    Permission::parse(&name).ok_or_else(|| {
        let known: Vec<&str> = Permission::ALL.iter().map(|one| one.name()).collect();
        let known = known.join(", ");
        HttpError::bad_request(format!("unknown permission: expected one of {known}"))
    })
}

/// The decision, or why the question has no answer.
type Checked = Result<AccessDecision, String>;

/// A tenant that isn't there looks like a private one to those who may not know.
fn in_tenant(
    call: &Call<'_>,
    who: &Identity,
    name: &str,
    permission: Permission,
    given: &[(Condition, String)],
) -> Result<Checked, HttpError> {
    let roles = &call.gate.access.roles;
    let root = roles.root();
    let seen = roles.tenant(name);
    let seen = seen.filter(|tenant| super::is_seen(tenant.scope(), who));
    let Some(tenant) = seen else {
        let knows = root.check(Some(who), Permission::Read, &Parameters::new());
        return match (knows, roles.tenant(name)) {
            (AccessDecision::Allowed(_), None) => Err(HttpError::not_found("unknown tenant")),
            _ => Ok(Ok(AccessDecision::Refused(nothing(permission)))),
        };
    };
    Ok(in_seen(tenant, who, permission, given))
}

fn in_seen(
    tenant: &Tenant,
    who: &Identity,
    permission: Permission,
    given: &[(Condition, String)],
) -> Checked {
    let named = given.iter().find(|(one, _)| *one == Condition::Project);
    let Some((_, named)) = named else {
        return decide(tenant.scope(), who, permission, (given, None));
    };
    match tenant.project(named) {
        None => Err("the tenant does not hold the project".to_owned()),
        Some(project) => decide(tenant.scope(), who, permission, (given, Some(&project))),
    }
}

fn decide(
    scope: &Scope,
    who: &Identity,
    permission: Permission,
    (given, project): (&[(Condition, String)], Option<&Project>),
) -> Checked {
    let mut parameters = Parameters::new();
    for (condition, value) in given {
        parameters = parameters.with(*condition, Some(value.as_str()));
    }
    if let Some(project) = project {
        parameters = parameters.with_project(project);
    }
    Ok(scope.check(Some(who), permission, &parameters))
}

fn nothing(permission: Permission) -> Refusal {
    Refusal {
        permission,
        misses: Vec::new(),
        roles: Vec::new(),
        rules: Vec::new(),
    }
}

fn described(checked: Checked, permission: Permission, tenant: Option<String>) -> RoleCheck {
    let (allowed, reason, by) = match checked {
        Err(why) => (false, why, None),
        Ok(AccessDecision::Refused(refusal)) => (false, sentence(&refusal), None),
        Ok(AccessDecision::Allowed(Basis::Anonymous)) => {
            (true, "anyone may read here".to_owned(), None)
        }
        Ok(AccessDecision::Allowed(Basis::Override)) => (
            true,
            "your token makes you an administrator here".to_owned(),
            None,
        ),
        Ok(AccessDecision::Allowed(Basis::Grant { rule, role })) => {
            let reason = format!("the rule `{rule}` matches you, and its role `{role}` permits it");
            (true, reason, Some((rule, role)))
        }
    };
    let (rule, role) = by.unzip();
    RoleCheck {
        permission: permission.name(),
        tenant,
        allowed,
        reason,
        rule,
        role,
    }
}
