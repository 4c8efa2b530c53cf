//! Metrics of access reviews.

use std::sync::Arc;

use portcullis_core::AccessVerdict;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{BUCKETS, Text};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AuthorizerLabels {
    authorizer: Text,
    decision: &'static str,
}

/// Access reviews.
#[derive(Debug)]
pub(super) struct AuthorizationMetrics {
    decisions: Family<AuthorizerLabels, Counter>,
    durations: Family<AuthorizerLabels, Histogram>,
}

impl AuthorizationMetrics {
    pub(super) fn new(r: &mut Registry) -> Self {
        let metrics = Self {
            decisions: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
        };
        r.register(
            "authorization_decisions",
            "Access reviews answered",
            metrics.decisions.clone(),
        );
        r.register(
            "authorization_duration_seconds",
            "Duration of access reviews",
            metrics.durations.clone(),
        );
        metrics
    }

    /// One access review was answered.
    pub(super) fn review(&self, verdict: &AccessVerdict) {
        let by = verdict
            .authorizer
            .clone()
            .unwrap_or_else(|| Arc::from("none"));
        let decision = if verdict.error.is_some() {
            "error"
        } else {
            verdict.opinion.as_str()
        };
        let labels = AuthorizerLabels {
            authorizer: Text(by),
            decision,
        };
        self.decisions.get_or_create(&labels).inc();
        self.durations
            .get_or_create(&labels)
            .observe(verdict.duration.as_secs_f64());
    }
}
