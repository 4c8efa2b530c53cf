//! Holds: the runner of the next failing job is held for inspection.

use portcullis_core::clock;
use portcullis_core::text::start;
use portcullis_roles::{Condition, Parameters, Permission, Project, Tenant};
use portcullis_store::{Hold, NewHold, Placed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::in_tenant;
use super::action::{Action, Read};
use super::answer;
use super::body::{LONGEST_SECONDS, Maybe, ends_after};
use super::call::{Answering, Call};
use super::endpoint::{Content, Endpoint, Success, Tag, Verb, get, post, schema_of};
use super::names;
use super::pipeline::one_of;
use super::state::seconds;
use crate::http::error::HttpError;

/// Longer reasons are cut.
const REASON_CHARACTERS: usize = 1024;

/// A hold to place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AutoholdBody {
    /// The job.
    #[schemars(length(min = 1))]
    job: String,
    /// How many failures are held.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    count: u32,
    /// Why.
    #[serde(default)]
    reason: Maybe,
    /// Only for this change, like `12` or `12,1`.
    #[serde(default)]
    change: Maybe,
    /// Only for this reference.
    #[serde(default, rename = "ref")]
    reference: Maybe,
    /// How many seconds a runner is held; 0 means until it is released.
    #[schemars(range(max = 315_360_000))]
    node_hold_expiration: Option<u64>,
    /// The number of seconds after which the hold expires, used or not.
    #[schemars(range(min = 1, max = 315_360_000))]
    expires_in: Option<u64>,
}

fn one() -> u32 {
    1
}

/// A hold.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HoldAnswer {
    id: u64,
    tenant: String,
    project: String,
    job: String,
    /// What it is for: a reference, `change:` and a change, or `.*` for everything.
    ref_filter: String,
    max_count: u32,
    current_count: u32,
    reason: String,
    node_expiration: Option<u64>,
    /// When it ended, in seconds since 1970.
    expired: Option<u64>,
    /// The machines that are held, as `runner-3/s_0123456789ab`.
    nodes: Vec<String>,
    /// Who placed it.
    placed_by: String,
    /// When, in seconds since 1970.
    placed_at: u64,
    /// When it ends by itself, in seconds since 1970.
    expires_at: Option<u64>,
}

impl From<Hold> for HoldAnswer {
    fn from(hold: Hold) -> Self {
        let ref_filter = match (&hold.reference, &hold.change) {
            (Some(reference), _) => reference.clone(),
            (None, Some(change)) => format!("change:{change}"),
            (None, None) => ".*".to_owned(),
        };
        Self {
            id: hold.id,
            tenant: hold.tenant,
            project: hold.project,
            job: hold.job,
            ref_filter,
            max_count: hold.max_count,
            current_count: hold.current_count,
            reason: hold.reason,
            node_expiration: hold.node_expiration,
            expired: hold.expired_at.map(seconds),
            nodes: hold.nodes,
            placed_by: hold.placed_by,
            placed_at: seconds(hold.placed_at),
            expires_at: hold.expires_at.map(seconds),
        }
    }
}

/// Places a hold.
#[derive(Debug)]
pub(crate) struct Place {
    project: Project,
    hold: NewHold,
}

/// Releases a hold.
#[derive(Debug)]
pub(crate) struct Release {
    project: Project,
    hold: Hold,
}

const CONDITIONS: &[Condition] = &[Condition::Project, Condition::Job, Condition::Ref];

impl Action for Place {
    const PERMISSION: Permission = Permission::Autohold;
    const CONDITIONS: &'static [Condition] = CONDITIONS;

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
            .with_project(&self.project)
            .with(Condition::Job, Some(&*self.hold.job))
            .with(Condition::Ref, self.hold.reference.as_deref())
    }
}

impl Action for Release {
    const PERMISSION: Permission = Permission::Autohold;
    const CONDITIONS: &'static [Condition] = CONDITIONS;

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
            .with_project(&self.project)
            .with(Condition::Job, Some(&*self.hold.job))
            .with(Condition::Ref, self.hold.reference.as_deref())
    }
}

const NO_PROJECT: (u16, &str) = (
    404,
    "The tenant does not exist, or does not have the project.",
);

/// What may be asked and done about holds.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    get(
        ("/api/tenant/{tenant}/autohold", "autoholds"),
        Tag::Autoholds,
        in_tenant::<Read>(),
        (
            "List the holds of a tenant",
            "Expired holds are listed for a day.",
        ),
        Success::Json {
            description: "Its holds, the oldest first.",
            schema: schema_of::<Vec<HoldAnswer>>,
        },
        list,
    ),
    get(
        ("/api/tenant/{tenant}/autohold/{id}", "autohold"),
        Tag::Autoholds,
        in_tenant::<Read>(),
        ("Show a hold", ""),
        Success::Json {
            description: "The hold.",
            schema: schema_of::<HoldAnswer>,
        },
        show,
    ),
    Endpoint {
        method: Verb::Delete,
        success: Success::Nothing {
            description: "The hold is released.",
        },
        ..get(
            ("/api/tenant/{tenant}/autohold/{id}", "releaseAutohold"),
            Tag::Autoholds,
            in_tenant::<Release>(),
            (
                "Release a hold",
                "Conditions are compared with the project, job and ref it was placed with.",
            ),
            Success::Nothing { description: "" },
            release,
        )
    },
    get(
        (
            "/api/tenant/{tenant}/project/{project}/autohold",
            "projectAutoholds",
        ),
        Tag::Autoholds,
        in_tenant::<Read>(),
        ("List the holds of a project", ""),
        Success::Json {
            description: "Its holds, the oldest first.",
            schema: schema_of::<Vec<HoldAnswer>>,
        },
        list_of_project,
    ),
    post(
        (
            "/api/tenant/{tenant}/project/{project}/autohold",
            "placeAutohold",
        ),
        Tag::Autoholds,
        in_tenant::<Place>(),
        (
            "Hold the runner of the next failing job",
            "Without `change` and `ref`, it applies to every run of the job.",
        ),
        Content {
            schema: schema_of::<AutoholdBody>,
            example: r#"{"job": "unit", "count": 1, "reason": "flaky since Monday", "node_hold_expiration": 3600}"#,
        },
        &[NO_PROJECT, (409, "The tenant has too many holds.")],
        place,
    ),
];

/// `POST /api/tenant/{tenant}/project/{project}/autohold`
pub(super) fn place(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.tenant()?;
        call.admit::<Place>(tenant.scope())?;
        let body: AutoholdBody = call.take_body().await?;
        let (change, reference) = one_of(body.change, body.reference)?;
        if body.job.is_empty() {
            return Err(HttpError::bad_request("job is empty"));
        }
        if !(1..=1000).contains(&body.count) {
            return Err(HttpError::bad_request("invalid count: expected 1 to 1000"));
        }
        if body.node_hold_expiration > Some(LONGEST_SECONDS) {
            let message =
                format!("invalid `node_hold_expiration`: at most {LONGEST_SECONDS} seconds");
            return Err(HttpError::bad_request(message));
        }
        for (what, name) in [
            ("job", Some(&body.job)),
            ("change", change.as_ref()),
            ("ref", reference.as_ref()),
        ] {
            name.map_or(Ok(()), |name| names::check(what, name))?;
        }
        let (project, is_held) = names::project(tenant, call.values.get("project"))?;
        let now = clock::wall();
        let reason = body.reason.0.unwrap_or_default();
        let wanted = Place {
            hold: NewHold {
                tenant: tenant.name().to_owned(),
                project: project.name.clone(),
                job: body.job,
                reference,
                change,
                reason: start(&reason, REASON_CHARACTERS).to_owned(),
                max_count: body.count,
                node_expiration: body.node_hold_expiration,
                placed_by: call
                    .caller
                    .identity()
                    .map(|who| who.uid.clone())
                    .unwrap_or_default(),
                placed_at: now,
                expires_at: ends_after(body.expires_in, now)?,
            },
            project,
        };
        let authorized = call.authorize(tenant.scope(), wanted).await?;
        if !is_held {
            return Err(names::unknown_project(&authorized.project));
        }
        let hold = authorized.into_inner().hold;
        match call.visitor.server.operator_state.place_hold(hold).await? {
            Placed::Done(_) => answer::ok(&true),
            Placed::Full => Err(HttpError::new(
                hyper::StatusCode::CONFLICT,
                "too_many_holds",
                "this tenant has too many holds: release some first",
            )),
        }
    })
}

/// `GET /api/tenant/{tenant}/autohold`
pub(super) fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.reading().await?;
        let holds = call
            .visitor
            .server
            .operator_state
            .holds(tenant.name(), None)
            .await?;
        answer::ok(&holds.into_iter().map(HoldAnswer::from).collect::<Vec<_>>())
    })
}

/// `GET /api/tenant/{tenant}/project/{project}/autohold`
pub(super) fn list_of_project(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.reading().await?;
        let (project, is_held) = names::project(tenant, call.values.get("project"))?;
        if !is_held {
            return Err(names::unknown_project(&project));
        }
        let operator_state = &call.visitor.server.operator_state;
        let holds = operator_state
            .holds(tenant.name(), Some(project.name))
            .await?;
        answer::ok(&holds.into_iter().map(HoldAnswer::from).collect::<Vec<_>>())
    })
}

/// `GET /api/tenant/{tenant}/autohold/{id}`
pub(super) fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.reading().await?;
        let hold = stored(&call, tenant).await?;
        answer::ok(&HoldAnswer::from(hold))
    })
}

/// `DELETE /api/tenant/{tenant}/autohold/{id}`: permitted by what the hold was placed with.
pub(super) fn release(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.tenant()?;
        call.admit::<Release>(tenant.scope())?;
        let hold = stored(&call, tenant).await?;
        let (project, _) = names::project(tenant, &hold.project)?;
        let authorized = call.authorize(tenant.scope(), Release { project, hold });
        // A denial shows what the hold is about: a caller without read access gets "not found".
        let authorized = authorized
            .await
            .map_err(|refusal| match call.may_read(tenant) {
                true => refusal,
                false => no_hold(),
            })?;
        let operator_state = &call.visitor.server.operator_state;
        match operator_state
            .release_hold(tenant.name(), authorized.hold.id)
            .await?
        {
            true => Ok(answer::nothing()),
            false => Err(no_hold()),
        }
    })
}

/// The hold that the path names, if it belongs to the tenant.
async fn stored(call: &Call<'_>, tenant: &Tenant) -> Result<Hold, HttpError> {
    let id = call
        .values
        .get("id")
        .parse::<u64>()
        .map_err(|_| no_hold())?;
    let operator_state = &call.visitor.server.operator_state;
    let hold = operator_state.hold(tenant.name(), id).await?;
    hold.ok_or_else(no_hold)
}

fn no_hold() -> HttpError {
    HttpError::not_found("no such hold in this tenant")
}
