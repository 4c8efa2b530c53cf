//! Whether the caller, or somebody with other claims, may do something, and why, without doing it.

use std::collections::BTreeMap;

use portcullis_core::Identity;
use portcullis_roles::{
    AccessDecision, Basis, Condition, Parameters, Permission, Project, Refusal, Scope, Tenant,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::super::access::Access;
use super::super::answer;
use super::super::authorizations::{PermittedAnswer, permitted};
use super::super::call::{Answering, Call};
use super::super::endpoint::{Endpoint, Success, Tag, get, schema_of, text};
use super::super::query::Query;
use super::super::refusal::sentence_about;
use crate::http::error::HttpError;

/// Bytes of claims, at most.
const LONGEST_CLAIMS: usize = 16 << 10;

/// Whether the caller, or somebody with the given claims, may do something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RoleCheck {
    /// The permission.
    permission: &'static str,
    /// The tenant; `null` for the root of the API.
    tenant: Option<String>,
    /// Whether they may.
    allowed: bool,
    /// Why, in words.
    reason: String,
    /// The rule that allows it.
    rule: Option<String>,
    /// The role that allows it.
    role: Option<String>,
    /// Everything else they have there; `null` where that can't be told.
    here: Option<HereAnswer>,
}

/// What somebody has in a place.
#[derive(Debug, Serialize, JsonSchema)]
struct HereAnswer {
    /// Whether they may do everything.
    is_admin: bool,
    /// The rules that match.
    rules: Vec<String>,
    /// The roles that these have.
    roles: Vec<String>,
    /// What they permit: `true`, or the grants.
    permissions: BTreeMap<&'static str, PermittedAnswer>,
}

/// Who is asked about.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// The caller.
    Caller,
    /// Somebody with other claims.
    Other,
}

impl Asked {
    /// The word for what is theirs.
    fn whose(self) -> &'static str {
        match self {
            Self::Caller => "your",
            Self::Other => "their",
        }
    }

    /// The word for them.
    fn whom(self) -> &'static str {
        match self {
            Self::Caller => "you",
            Self::Other => "them",
        }
    }
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
        text(
            "claims",
            "Ask about somebody whose token has these claims, a JSON object, instead of the caller. Only for \
             administrators of the tenant, or of the root of the API.",
            r#"{"sub": "alice"}"#,
        ),
    ],
    refusals: &[
        (403, "Only administrators may ask about other claims."),
        (404, "The tenant is unknown."),
    ],
    ..get(
        ("/api/v1/roles/check", "checkRoles"),
        Tag::Tenants,
        Access::SignedIn(
            "shows whether the caller may do something, and to administrators the same of others; does nothing",
        ),
        (
            "Check whether the caller may do something",
            "With `claims`, whether somebody else may. Nothing is done, and nothing is recorded.",
        ),
        Success::Json {
            description: "Whether they may, and why.",
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
        let claims = query.take("claims")?.filter(|text| !text.trim().is_empty());
        query.done()?;
        let Some(claims) = claims else {
            let answer = match &tenant {
                None => {
                    let root = call.gate.access.roles.root();
                    let checked = decide(root, who, permission, (&given, None));
                    (checked, Some(here(root, who)))
                }
                Some(name) => in_tenant(&call, who, name, permission, &given)?,
            };
            return answer::ok(&described(Asked::Caller, answer, permission, tenant));
        };
        let place = administered(&call, who, tenant.as_deref())?;
        let answer = match call.gate.access.authenticators.identity_of(read(&claims)?) {
            Err(error) => {
                let why = format!("a token with these claims is rejected: {error}");
                (Err(why), None)
            }
            Ok(other) => {
                let checked = match place {
                    Administered::Root(root) => decide(root, &other, permission, (&given, None)),
                    Administered::Tenant(tenant) => in_seen(tenant, &other, permission, &given),
                };
                (checked, Some(here(place.scope(), &other)))
            }
        };
        answer::ok(&described(Asked::Other, answer, permission, tenant))
    })
}

/// A place of which the caller may know everything.
#[derive(Debug, Clone, Copy)]
enum Administered<'a> {
    Root(&'a Scope),
    Tenant(&'a Tenant),
}

impl<'a> Administered<'a> {
    fn scope(self) -> &'a Scope {
        match self {
            Self::Root(scope) => scope,
            Self::Tenant(tenant) => tenant.scope(),
        }
    }
}

/// The place that is asked about, if the caller administers it: they see all of its rules anyway. A tenant that is not
/// there looks like others to those who may not know.
fn administered<'a>(
    call: &Call<'a>,
    who: &Identity,
    tenant: Option<&str>,
) -> Result<Administered<'a>, HttpError> {
    let roles = &call.gate.access.roles;
    let is_admin = |scope: &Scope| scope.effective(Some(who)).is_admin;
    let refused = || {
        let message = "only administrators of a tenant, or of the root of the API, may ask there about other claims";
        HttpError::forbidden("forbidden", message)
    };
    let Some(name) = tenant else {
        let root = Administered::Root(roles.root());
        return is_admin(root.scope()).then_some(root).ok_or_else(refused);
    };
    match roles.tenant(name) {
        Some(tenant) if is_admin(tenant.scope()) => Ok(Administered::Tenant(tenant)),
        Some(_) => Err(refused()),
        None if may_know(call, who) => Err(unknown_tenant()),
        None => Err(refused()),
    }
}

/// The claims of a query.
fn read(text: &str) -> Result<serde_json::Map<String, Value>, HttpError> {
    if text.len() > LONGEST_CLAIMS {
        let message = format!("claims: more than {LONGEST_CLAIMS} bytes");
        return Err(HttpError::bad_request(message));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(claims)) => Ok(claims),
        Ok(_) => Err(HttpError::bad_request(
            "claims: expected a JSON object, like {\"sub\": \"alice\"}",
        )),
        Err(why) => Err(HttpError::bad_request(format!("claims: {why}"))),
    }
}

/// Everything that somebody has in a place.
fn here(scope: &Scope, who: &Identity) -> HereAnswer {
    let here = scope.effective(Some(who));
    let permissions = here.permissions.into_iter();
    HereAnswer {
        is_admin: here.is_admin,
        rules: here.rules,
        roles: here.roles,
        permissions: permissions
            .map(|(permission, how)| (permission.name(), permitted(how)))
            .collect(),
    }
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

/// Whether the caller may know which tenants there are.
fn may_know(call: &Call<'_>, who: &Identity) -> bool {
    let root = call.gate.access.roles.root();
    let knows = root.check(Some(who), Permission::Read, &Parameters::new());
    matches!(knows, AccessDecision::Allowed(_))
}

fn unknown_tenant() -> HttpError {
    HttpError::not_found("unknown tenant")
}

/// A tenant that isn't there looks like a private one to those who may not know.
fn in_tenant(
    call: &Call<'_>,
    who: &Identity,
    name: &str,
    permission: Permission,
    given: &[(Condition, String)],
) -> Result<(Checked, Option<HereAnswer>), HttpError> {
    let found = call.gate.access.roles.tenant(name);
    let seen = found.filter(|tenant| super::is_seen(tenant.scope(), who));
    match seen {
        Some(tenant) => Ok((
            in_seen(tenant, who, permission, given),
            Some(here(tenant.scope(), who)),
        )),
        None if found.is_none() && may_know(call, who) => Err(unknown_tenant()),
        None => Ok((Ok(AccessDecision::Refused(nothing(permission))), None)),
    }
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

fn described(
    asked: Asked,
    (checked, here): (Checked, Option<HereAnswer>),
    permission: Permission,
    tenant: Option<String>,
) -> RoleCheck {
    let (whose, whom) = (asked.whose(), asked.whom());
    let (allowed, reason, by) = match checked {
        Err(why) => (false, why, None),
        Ok(AccessDecision::Refused(refusal)) => (false, sentence_about(whose, &refusal), None),
        Ok(AccessDecision::Allowed(Basis::Anonymous)) => {
            (true, "anyone may read here".to_owned(), None)
        }
        Ok(AccessDecision::Allowed(Basis::Override)) => {
            let reason = format!("{whose} token makes {whom} an administrator here");
            (true, reason, None)
        }
        Ok(AccessDecision::Allowed(Basis::Grant { rule, role })) => {
            let reason =
                format!("the rule `{rule}` matches {whom}, and its role `{role}` permits it");
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
        here,
    }
}
