//! What all connections share: the gate as it is now, health and metrics.

use std::collections::BTreeMap;

use arc_swap::ArcSwap;
use portcullis_core::{AuthorizerChain, Chain};
use portcullis_js::GlobalContext;

use crate::config::{Limits, PendingMutation};
use crate::health::Health;
use crate::metrics::Metrics;

/// Everything that judges, built from one configuration and swapped whole.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The plug-ins.
    pub(crate) chain: Chain,
    /// Chains of authorizers by name.
    pub(crate) authorizers: BTreeMap<String, AuthorizerChain>,
    /// What `/validate` does with an object that would still be changed.
    pub(crate) pending_mutation: PendingMutation,
    /// Limits on requests.
    pub(crate) limits: Limits,
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    /// The gate as it is now.
    pub(crate) gate: ArcSwap<Gate>,
    /// Whether requests should come here.
    pub(crate) health: Health,
    /// What is counted.
    pub(crate) metrics: Metrics,
    /// What policies keep between reviews, whatever the configuration.
    pub(crate) global_context: GlobalContext,
}
