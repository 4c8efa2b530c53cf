//! Tenants: the list, and their contents.

mod queue;

use std::collections::BTreeMap;

use portcullis_roles::Tenant;
use schemars::JsonSchema;
use serde::Serialize;

use super::access::{Access, in_tenant};
use super::action::Read;
use super::answer;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use super::state::StateAnswer;

/// A tenant in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TenantEntry {
    name: String,
    /// The number of projects; those that match only a pattern are not counted.
    projects: usize,
    /// Whether it also holds projects by pattern, or all.
    by_pattern: bool,
    /// The number of pipelines that are not finished.
    queue: u64,
    /// The state, unless it is normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<StateAnswer>,
}

/// The status of a tenant.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// The version of this server.
    zuul_version: &'static str,
    /// New pipelines that have not started.
    trigger_event_queue: Queue,
    /// Always empty: results are acted on at once, or held back with their pipelines.
    result_event_queue: Queue,
    /// Always empty: what operators do is done at once.
    management_event_queue: Queue,
    /// What is not finished, by the name of its pipeline.
    pipelines: Vec<queue::PipelineQueue>,
    /// Whether it is paused.
    state: StateAnswer,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Queue {
    length: u64,
}

/// A project of a tenant.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectEntry {
    name: String,
    /// Its name with the host.
    canonical_name: String,
}

/// What may be asked about tenants.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    get(
        ("/api/tenants", "tenants"),
        Tag::Tenants,
        Access::Reader("lists only what the caller may read"),
        ("List the tenants that the caller may read", ""),
        Success::Json {
            description: "The tenants, by name.",
            schema: schema_of::<Vec<TenantEntry>>,
        },
        list,
    ),
    get(
        ("/api/tenant/{tenant}/status", "status"),
        Tag::Tenants,
        in_tenant::<Read>(),
        (
            "Show the status of a tenant",
            "Its state, and what is not finished: up to 200 pipelines, the oldest of each project first.",
        ),
        Success::Json {
            description: "Its queues and its state.",
            schema: schema_of::<Status>,
        },
        status,
    ),
    get(
        ("/api/tenant/{tenant}/projects", "projects"),
        Tag::Tenants,
        in_tenant::<Read>(),
        (
            "List the projects of a tenant",
            "Projects that match only a pattern are listed while pipelines of theirs are not finished.",
        ),
        Success::Json {
            description: "Its projects.",
            schema: schema_of::<Vec<ProjectEntry>>,
        },
        projects,
    ),
    get(
        ("/api/tenant/{tenant}/jobs", "jobs"),
        Tag::Tenants,
        in_tenant::<Read>(),
        (
            "List the jobs of a tenant",
            "Those that are not finished, the newest first, up to 500. Others are listed by `/api/v1/jobs`.",
        ),
        Success::Json {
            description: "Its jobs.",
            schema: schema_of::<Vec<queue::JobEntry>>,
        },
        queue::jobs,
    ),
    get(
        ("/api/tenant/{tenant}/pipelines", "pipelines"),
        Tag::Tenants,
        in_tenant::<Read>(),
        (
            "List the pipelines of a tenant",
            "By name, like `check` or `gate`: those of which something is not finished.",
        ),
        Success::Json {
            description: "Its pipelines.",
            schema: schema_of::<Vec<queue::PipelineEntry>>,
        },
        queue::pipelines,
    ),
];

/// `GET /api/tenants`
pub(super) fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let roles = &call.gate.access.roles;
        call.admit_reader()?;
        let states = call.visitor.server.operator_state.states().await?;
        let state = |name: &str| {
            let state = states.get(name).filter(|state| state.is_paused())?;
            Some(StateAnswer::of(state))
        };
        let live = queue::live(&call).await?;
        let readable = roles.tenants().filter(|tenant| call.may_read(tenant));
        let entries = readable.map(|tenant| TenantEntry {
            name: tenant.name().to_owned(),
            projects: tenant.projects().len(),
            by_pattern: tenant.holds_by_pattern(),
            queue: live.of(tenant).map(|live| live.count).sum(),
            state: state(tenant.name()),
        });
        answer::ok(&entries.collect::<Vec<_>>())
    })
}

/// `GET /api/tenant/{tenant}/status`
pub(super) fn status(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.reading().await?;
        let state = call
            .visitor
            .server
            .operator_state
            .state(tenant.name())
            .await?;
        let (waiting, pipelines) = queue::shown(&call, tenant).await?;
        let queue = |length| Queue { length };
        answer::ok(&Status {
            zuul_version: concat!("portcullis ", env!("CARGO_PKG_VERSION")),
            trigger_event_queue: queue(waiting),
            result_event_queue: queue(0),
            management_event_queue: queue(0),
            pipelines,
            state: StateAnswer::of(&state),
        })
    })
}

/// `GET /api/tenant/{tenant}/projects`
pub(super) fn projects(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.reading().await?;
        let live = queue::live(&call).await?;
        answer::ok(&known_projects(tenant, &live))
    })
}

/// Those that are held by name, and those of which something is not finished.
fn known_projects(tenant: &Tenant, live: &queue::Live) -> Vec<ProjectEntry> {
    let named = tenant.projects();
    let running = live.of(tenant).map(|live| live.project.as_str());
    let running: BTreeMap<&str, _> = running
        .filter(|name| !named.iter().any(|project| project.name == *name))
        .filter_map(|name| Some((name, tenant.project(name)?)))
        .collect();
    let all = named.into_iter().chain(running.into_values());
    let entry = |project: portcullis_roles::Project| ProjectEntry {
        canonical_name: project.canonical.unwrap_or_else(|| project.name.clone()),
        name: project.name,
    };
    all.map(entry).collect()
}
