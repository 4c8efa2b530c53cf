//! Tenants: the list, and their contents.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::access::{at_root, in_tenant};
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
    /// How many changes are on their way.
    queue: usize,
    /// The state, unless it is normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<StateAnswer>,
}

/// The status of a tenant.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// The version of this server.
    zuul_version: &'static str,
    trigger_event_queue: Queue,
    result_event_queue: Queue,
    management_event_queue: Queue,
    /// What is on its way, by pipeline.
    pipelines: Vec<Value>,
    /// Whether it is paused.
    state: StateAnswer,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Queue {
    length: usize,
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
        at_root::<Read>(),
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
        ("Show the status of a tenant", ""),
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
            "Projects that match only a pattern are not listed.",
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
        ("List the jobs of a tenant", ""),
        Success::Json {
            description: "Its jobs.",
            schema: schema_of::<Vec<serde_json::Value>>,
        },
        nothing_yet,
    ),
    get(
        ("/api/tenant/{tenant}/pipelines", "pipelines"),
        Tag::Tenants,
        in_tenant::<Read>(),
        ("List the pipelines of a tenant", ""),
        Success::Json {
            description: "Its pipelines.",
            schema: schema_of::<Vec<serde_json::Value>>,
        },
        nothing_yet,
    ),
];

/// `GET /api/tenants`
pub(super) fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let roles = &call.gate.access.roles;
        call.authorize(roles.root(), Read).await?;
        let states = call.visitor.server.operator_state.states().await?;
        let state = |name: &str| {
            let state = states.get(name).filter(|state| state.is_paused())?;
            Some(StateAnswer::of(state))
        };
        let readable = roles.tenants().filter(|tenant| call.may_read(tenant));
        let entries = readable.map(|tenant| TenantEntry {
            name: tenant.name().to_owned(),
            projects: tenant.projects().len(),
            queue: 0,
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
        let empty = || Queue { length: 0 };
        answer::ok(&Status {
            zuul_version: concat!("portcullis ", env!("CARGO_PKG_VERSION")),
            trigger_event_queue: empty(),
            result_event_queue: empty(),
            management_event_queue: empty(),
            pipelines: Vec::new(),
            state: StateAnswer::of(&state),
        })
    })
}

/// `GET /api/tenant/{tenant}/projects`
pub(super) fn projects(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let projects = call.reading().await?.projects().into_iter();
        let entries = projects.map(|project| ProjectEntry {
            canonical_name: project.canonical.unwrap_or_else(|| project.name.clone()),
            name: project.name,
        });
        answer::ok(&entries.collect::<Vec<_>>())
    })
}

/// `GET /api/tenant/{tenant}/jobs` and `/pipelines`: nothing is known yet.
pub(super) fn nothing_yet(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.reading().await?;
        answer::ok(&Vec::<Value>::new())
    })
}
