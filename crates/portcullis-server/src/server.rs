//! What all connections share: the gate as it is now, health and metrics.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use portcullis_gate::{Gate, UnixNames};
use portcullis_js::{GlobalContext, Guard};
use portcullis_telemetry::Telemetry;
use tokio::sync::watch;

use crate::ci::CiJobs;
use crate::decisions::DecisionLog;
use crate::health::Health;
use crate::http::budget::Budget;
use crate::managed::ManagedCertificates;
use crate::metrics::Metrics;
use crate::operator_state::OperatorState;
use crate::playground::Playground;
use crate::policy_changes::PolicyChanges;
use crate::sign_in_link::Waiting;
use crate::standing::Standing;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    /// The gate as it is now.
    pub(crate) gate: ArcSwap<Gate>,
    /// Memory that requests under way may take.
    pub(crate) budget: Arc<Budget>,
    /// Whether requests should come here.
    pub(crate) health: Health,
    /// Since when it runs, and where.
    pub(crate) standing: Standing,
    /// When policies changed.
    pub(crate) policy_changes: PolicyChanges,
    /// What is counted.
    pub(crate) metrics: Metrics,
    /// Certificates that the server makes itself.
    pub(crate) managed: ManagedCertificates,
    /// What is kept of decisions.
    pub(crate) decisions: DecisionLog,
    /// What operators set.
    pub(crate) operator_state: Arc<OperatorState>,
    /// CI jobs.
    pub(crate) ci: CiJobs,
    /// Names of users at unix sockets.
    pub(crate) unix_names: UnixNames,
    /// Turns true when the server is shutting down.
    pub(crate) ending: watch::Sender<bool>,
    /// How often the gate was exchanged.
    pub(crate) reloads: watch::Sender<u64>,
    /// What policies keep between reviews, whatever the configuration.
    pub(crate) global_context: GlobalContext,
    /// Which policies are evaluated in processes, whatever the configuration.
    pub(crate) guard: Guard,
    /// The link that signs a person in, if there is one.
    pub(crate) sign_in_link: Waiting,
    /// Where policies are tried that are not in force.
    pub(crate) playground: Playground,
    /// Where spans and logs go, if they are exported.
    pub(crate) telemetry: Option<Telemetry>,
}

/// How long the store may take to say which sessions were ended.
const LEARN_WITHIN: Duration = Duration::from_secs(2);

impl Server {
    /// Whether sessions are possible.
    pub(crate) fn has_sessions(&self) -> bool {
        self.gate.load().access.sessions.is_some()
    }

    /// Reads which sessions were ended, if there are any. Failing that, what was known before counts; if
    /// nothing was, all sessions count as ended until the store answers.
    pub(crate) async fn learn_ended_sessions(&self) {
        if !self.has_sessions() {
            return;
        }
        // A store that is away must not hold up who asks; it is asked again soon.
        match tokio::time::timeout(LEARN_WITHIN, self.operator_state.learn()).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                tracing::warn!("cannot read the list of ended sessions: {failure}");
            }
            Err(_) => tracing::warn!("timed out reading the list of ended sessions"),
        }
    }
}
