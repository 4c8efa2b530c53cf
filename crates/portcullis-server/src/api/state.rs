//! Pausing and resuming a tenant.

use std::time::SystemTime;

use portcullis_core::clock;
use portcullis_core::text::start;
use portcullis_roles::{Condition, Parameters, Permission};
use portcullis_store::{StateChange, TenantState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::in_tenant;
use super::action::Action;
use super::answer;
use super::body::ends_after;
use super::call::{Answering, Call};
use super::endpoint::{Content, Endpoint, Success, Tag, post, schema_of};

/// Longer reasons are cut, as Zuul does.
const REASON_CHARACTERS: usize = 4096;

/// The new state; fields that are not given stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateBody {
    /// New pipelines are discarded.
    trigger_queue_discarding: Option<bool>,
    /// New pipelines wait.
    trigger_queue_paused: Option<bool>,
    /// Results wait: finished jobs start no next stage.
    result_queue_paused: Option<bool>,
    /// The reason.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    reason: Option<Option<String>>,
    /// The number of seconds after which the state returns to normal.
    #[schemars(range(min = 1, max = 315_360_000))]
    expires_in: Option<u64>,
}

/// Null is something that was said.
fn given<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// Whether a tenant is paused.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StateAnswer {
    trigger_queue_discarding: bool,
    trigger_queue_paused: bool,
    result_queue_paused: bool,
    reason: Option<String>,
    /// Who set it.
    set_by: Option<String>,
    /// When, in seconds since 1970.
    set_at: Option<u64>,
    /// When everything is normal again, in seconds since 1970.
    expires_at: Option<u64>,
}

impl StateAnswer {
    pub(super) fn of(state: &TenantState) -> Self {
        Self {
            trigger_queue_discarding: state.trigger_queue_discarding,
            trigger_queue_paused: state.trigger_queue_paused,
            result_queue_paused: state.result_queue_paused,
            reason: state.reason.clone(),
            set_by: state.set_by.clone(),
            set_at: state.set_at.map(seconds),
            expires_at: state.expires_at.map(seconds),
        }
    }
}

/// A time in seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Pauses or resumes a tenant.
#[derive(Debug)]
pub(crate) struct SetState {
    change: StateChange,
}

impl Action for SetState {
    const PERMISSION: Permission = Permission::TenantState;
    const CONDITIONS: &'static [Condition] = &[];

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
    }
}

/// What may be done to a tenant.
pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    success: Success::Json {
        description: "The new state of the tenant.",
        schema: schema_of::<StateAnswer>,
    },
    ..post(
        ("/api/tenant/{tenant}/state", "setState"),
        Tag::Tenants,
        in_tenant::<SetState>(),
        (
            "Pause or resume a tenant",
            "Fields that are not given stay unchanged. With `expires_in`, the state returns to normal after that many seconds.",
        ),
        Content {
            schema: schema_of::<StateBody>,
            example: r#"{"trigger_queue_paused": true, "reason": "incident 42"}"#,
        },
        &[],
        set,
    )
}];

/// `POST /api/tenant/{tenant}/state`
pub(super) fn set(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let tenant = call.tenant()?;
        call.admit::<SetState>(tenant.scope())?;
        let body: StateBody = call.take_body().await?;
        let now = clock::wall();
        let ends = ends_after(body.expires_in, now)?;
        let reason = body.reason.map(|reason| {
            let cut = |text: String| start(&text, REASON_CHARACTERS).to_owned();
            reason.map(cut).filter(|text| !text.is_empty())
        });
        let wanted = SetState {
            change: StateChange {
                trigger_queue_discarding: body.trigger_queue_discarding,
                trigger_queue_paused: body.trigger_queue_paused,
                result_queue_paused: body.result_queue_paused,
                reason,
                expires_at: ends.map(Some),
            },
        };
        let authorized = call.authorize(tenant.scope(), wanted).await?;
        let by = call.somebody()?.uid.clone();
        let change = authorized.into_inner().change;
        let operator_state = &call.visitor.server.operator_state;
        let state = operator_state
            .change_state(tenant.name(), change, by, now)
            .await?;
        answer::ok(&StateAnswer::of(&state))
    })
}
