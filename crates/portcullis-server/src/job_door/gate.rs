//! Tenants that are paused hold back the pipelines of the projects that they hold.
//!
//! A project may be held by several tenants: one that is paused is enough. What is known of tenants is read from the
//! store every second, and at once when this server changes it; before it was read, everything is held back.

use std::sync::{Arc, Weak};
use std::time::Duration;

use portcullis_ci::{Gate, Pause};
use portcullis_core::clock;
use portcullis_core::text::start;
use portcullis_jobs::Timestamp;
use portcullis_store::TenantState;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::operator_state::{OperatorState, States};
use crate::server::Server;

/// What of a reason a job shows.
const REASON_CHARACTERS: usize = 1024;
/// Other servers have learnt of a change by then. What they held back until then goes on here, should they end.
const EVERYONE_KNOWS: Duration = Duration::from_secs(5);
/// A store that does not answer is asked again after this time.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Asks the tenants that hold a project.
#[derive(Debug)]
pub(super) struct TenantGate {
    server: Weak<Server>,
}

impl TenantGate {
    /// The gate of a server, which follows the states of its tenants from now on.
    pub(super) async fn begin(server: &Arc<Server>) -> Arc<Self> {
        if let Err(failure) = server.operator_state.learn_states().await {
            tracing::warn!("cannot read the states of tenants: {failure}");
        }
        let weak = Arc::downgrade(server);
        // The service is opened by one at a time, and again when it moves: whoever follows goes on then.
        if !server.ci.is_watched() {
            let followed = weak.clone();
            let of = move || Some(Arc::clone(&followed.upgrade()?.operator_state));
            tokio::spawn(OperatorState::follow_states(of));
            tokio::spawn(Follower::new(server).go_on());
        }
        Arc::new(Self { server: weak })
    }

    fn pause(
        &self,
        project: &str,
        what: &str,
        is_paused: fn(&TenantState) -> bool,
    ) -> Option<Pause> {
        let unknown = |why: &str| Pause {
            tenant: None,
            since: clock::wall().into(),
            detail: why.to_owned(),
        };
        let Some(server) = self.server.upgrade() else {
            return Some(unknown("the server is shutting down"));
        };
        let Some(states) = server.operator_state.known_states() else {
            return Some(unknown("it is not known yet whether a tenant is paused"));
        };
        if states.is_empty() {
            return None;
        }
        let gate = server.gate.load();
        let (tenant, state) = first_holder(&gate, &states, project, is_paused)?;
        Some(described(tenant, state, what))
    }
}

impl Gate for TenantGate {
    fn new_pipelines_paused(&self, project: &str) -> Option<Pause> {
        let is_paused = |state: &TenantState| state.trigger_queue_paused;
        self.pause(project, "new pipelines are paused", is_paused)
    }

    fn results_paused(&self, project: &str) -> Option<Pause> {
        let is_paused = |state: &TenantState| state.result_queue_paused;
        self.pause(project, "results are paused", is_paused)
    }
}

/// The first tenant that holds a project and is in such a state.
pub(crate) fn first_holder<'a>(
    gate: &'a portcullis_gate::Gate,
    states: &'a States,
    project: &str,
    is_so: impl Fn(&TenantState) -> bool,
) -> Option<(&'a portcullis_roles::Tenant, &'a TenantState)> {
    let mut found = states.iter().filter(|(_, state)| is_so(state));
    found.find_map(|(name, state)| {
        let tenant = gate.access.roles.tenant(name)?;
        tenant.project(project).map(|_| (tenant, state))
    })
}

fn described(tenant: &portcullis_roles::Tenant, state: &TenantState, what: &str) -> Pause {
    let mut detail = what.to_owned();
    if let Some(end) = state.expires_at {
        detail.push_str(&format!(" until {}", Timestamp::from(end)));
    }
    if let Some(reason) = &state.reason {
        detail.push_str(&format!(": {}", start(reason, REASON_CHARACTERS)));
    }
    Pause {
        tenant: Some(tenant.name().to_owned()),
        since: state.set_at.unwrap_or_else(clock::wall).into(),
        detail,
    }
}

/// Goes on with what was held back: when the service is opened, and when tenants are resumed or hold other projects.
struct Follower {
    server: Weak<Server>,
    states: watch::Receiver<Option<Arc<States>>>,
    /// How tenants were before.
    before: Option<Arc<States>>,
    openings: watch::Receiver<u64>,
    reloads: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    /// When to look for what may go on.
    due: Vec<Instant>,
}

impl Follower {
    fn new(server: &Arc<Server>) -> Self {
        let states = server.operator_state.watch_states();
        Self {
            server: Arc::downgrade(server),
            before: server.operator_state.known_states(),
            states,
            openings: server.ci.watch_openings(),
            reloads: server.reloads.subscribe(),
            ending: server.ending.subscribe(),
            due: Vec::new(),
        }
    }

    /// As long as the server runs.
    async fn go_on(mut self) {
        while let Some(()) = self.wait().await {
            let now = Instant::now();
            if self.due.iter().all(|time| *time > now) {
                continue;
            }
            self.due.retain(|time| *time > now);
            let Some(server) = self.server.upgrade() else {
                return;
            };
            let jobs = server.ci.opened().await;
            drop(server);
            let Some(jobs) = jobs else { continue };
            if let Err(error) = jobs.resume().await {
                tracing::warn!("jobs that were held back can't go on yet: {error}");
                self.due.push(Instant::now() + RETRY_AFTER);
            }
        }
    }

    /// Waits until something may go on, and notes when to look for it; nothing when the server ends.
    async fn wait(&mut self) -> Option<()> {
        let next = self.due.iter().min().copied();
        let due = async {
            match next {
                Some(next) => tokio::time::sleep_until(next).await,
                None => std::future::pending().await,
            }
        };
        let may_go_on = tokio::select! {
            () = due => false,
            changed = self.openings.changed() => changed.ok().map(|()| true)?,
            changed = self.reloads.changed() => {
                changed.ok()?;
                // A tenant that is paused may hold other projects now.
                self.before.as_deref().is_none_or(|states| !states.is_empty())
            }
            changed = self.states.changed() => {
                changed.ok()?;
                let now = self.states.borrow_and_update().clone();
                let before = std::mem::replace(&mut self.before, now);
                is_lifted(before.as_deref(), self.before.as_deref())
            }
            _ = self.ending.changed() => return None,
        };
        if may_go_on {
            let now = Instant::now();
            self.due.extend([now, now + EVERYONE_KNOWS]);
        }
        Some(())
    }
}

/// Whether something that was held back isn't any more.
fn is_lifted(before: Option<&States>, now: Option<&States>) -> bool {
    let Some(before) = before else { return true };
    let flags = |state: &TenantState| [state.trigger_queue_paused, state.result_queue_paused];
    before.iter().any(|(name, state)| {
        let after = now.and_then(|now| now.get(name)).map(flags);
        let both = flags(state).into_iter().zip(after.unwrap_or_default());
        both.into_iter().any(|(was, is)| was && !is)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lifted_is_noticed() {
        let states = |flags: &[(&str, bool, bool)]| -> States {
            let state = |(name, trigger, result): &(&str, bool, bool)| {
                let state = TenantState {
                    trigger_queue_paused: *trigger,
                    result_queue_paused: *result,
                    ..TenantState::default()
                };
                ((*name).to_owned(), state)
            };
            flags.iter().map(state).collect()
        };
        let both = states(&[("a", true, true), ("b", true, false)]);
        assert!(is_lifted(None, Some(&both)));
        assert!(!is_lifted(Some(&both), Some(&both)));
        assert!(!is_lifted(Some(&states(&[])), Some(&both)));
        for after in [
            states(&[]),
            states(&[("a", true, true)]),
            states(&[("a", true, false), ("b", true, true)]),
        ] {
            assert!(is_lifted(Some(&both), Some(&after)), "{after:?}");
        }
    }
}
