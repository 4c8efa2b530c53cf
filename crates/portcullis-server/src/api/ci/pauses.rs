//! What callers see of tenants that are paused, or discard new pipelines.
//!
//! A project may be held by several tenants. Those that a caller may not know of are not named to them.

use portcullis_ci::JobDetails;
use portcullis_core::text::start;
use portcullis_roles::Tenant;

use crate::api::call::Call;
use crate::http::error::HttpError;
use crate::job_door;

/// What of a reason a message has.
const REASON_CHARACTERS: usize = 1024;

/// What is said where a tenant discards new pipelines.
pub(in crate::api) const DISCARDED: (u16, &str) = (
    409,
    "A tenant that holds the project discards new pipelines; the message has its reason.",
);

impl Call<'_> {
    /// Goes on unless a tenant that holds the project discards new pipelines.
    pub(in crate::api) fn refuse_discarded(&self, project: &str) -> Result<(), HttpError> {
        let unknown = || HttpError::busy("it is not known yet whether a tenant is paused");
        let operator_state = &self.visitor.server.operator_state;
        let states = operator_state.known_states().ok_or_else(unknown)?;
        let found = job_door::first_holder(self.gate, &states, project, |state| {
            state.trigger_queue_discarding
        });
        let Some((tenant, state)) = found else {
            return Ok(());
        };
        let is_known = self.knows(tenant);
        let mut message = match is_known {
            true => format!("tenant `{}` discards new pipelines", tenant.name()),
            false => "new pipelines of this project are discarded".to_owned(),
        };
        if let Some(reason) = state.reason.as_ref().filter(|_| is_known) {
            message.push_str(&format!(": {}", start(reason, REASON_CHARACTERS)));
        }
        Err(HttpError::conflict("discarding", message))
    }

    /// A job as the caller may see it: a private tenant that holds it back is not named.
    pub(super) fn shown(&self, mut job: JobDetails) -> JobDetails {
        let roles = &self.gate.access.roles;
        for item in &mut job.prerequisites.items {
            if !item.is_paused_tenant() {
                continue;
            }
            let tenant = item.by.as_deref().and_then(|name| roles.tenant(name));
            if item.by.is_some() && !tenant.is_some_and(|tenant| self.knows(tenant)) {
                item.by = None;
                item.detail = Some("a tenant that holds the project is paused".to_owned());
            }
        }
        job
    }

    /// Whether the caller may know of a tenant: may read in it, or has a role there.
    fn knows(&self, tenant: &Tenant) -> bool {
        let effective = || tenant.scope().effective(self.caller.identity());
        self.may_read(tenant) || !effective().roles.is_empty()
    }
}
