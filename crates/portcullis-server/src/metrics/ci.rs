//! Metrics of CI jobs.

use std::sync::atomic::AtomicU64;

use portcullis_ci::{DeliveryOutcome, Observation};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Buckets for calls of controllers, in seconds.
const BUCKETS: [f64; 9] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabels {
    status: &'static str,
    failure_reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VerdictLabels {
    verdict: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

/// What is counted of CI jobs.
#[derive(Debug)]
pub(crate) struct CiMetrics {
    jobs: Family<StatusLabels, Counter>,
    decisions: Family<VerdictLabels, Counter>,
    deliveries: Family<OutcomeLabels, Counter>,
    durations: Histogram,
    suspensions: Counter<u64, AtomicU64>,
    unknown_tokens: Counter<u64, AtomicU64>,
    overloads: Counter<u64, AtomicU64>,
    troubles: Counter<u64, AtomicU64>,
}

impl CiMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            jobs: Family::default(),
            decisions: Family::default(),
            deliveries: Family::default(),
            durations: Histogram::new(BUCKETS),
            suspensions: Counter::default(),
            unknown_tokens: Counter::default(),
            overloads: Counter::default(),
            troubles: Counter::default(),
        };
        registry.register(
            "ci_jobs",
            "Changes of the status of CI jobs, by the new status and why a job failed",
            metrics.jobs.clone(),
        );
        registry.register(
            "ci_controller_verdicts",
            "Verdicts of controllers and policies about CI jobs",
            metrics.decisions.clone(),
        );
        registry.register(
            "ci_delivery_tries",
            "Calls of controllers, by how they ended",
            metrics.deliveries.clone(),
        );
        registry.register(
            "ci_delivery_duration_seconds",
            "How long calls of controllers took",
            metrics.durations.clone(),
        );
        registry.register(
            "ci_controller_suspensions",
            "Controllers that were suspended because they answered 410",
            metrics.suspensions.clone(),
        );
        registry.register(
            "ci_unknown_callback_tokens",
            "Callbacks with an unknown token",
            metrics.unknown_tokens.clone(),
        );
        registry.register(
            "ci_rejected_submissions",
            "Jobs that were not accepted because too many were waiting",
            metrics.overloads.clone(),
        );
        registry.register(
            "ci_background_errors",
            "Errors of background work on CI jobs, which is tried again",
            metrics.troubles.clone(),
        );
        metrics
    }

    /// Something happened.
    pub(crate) fn observe(&self, observation: &Observation) {
        match observation {
            Observation::Job {
                to, failure_reason, ..
            } => {
                let labels = StatusLabels {
                    status: to.as_str(),
                    failure_reason: failure_reason.map_or("", |reason| reason.as_str()),
                };
                self.jobs.get_or_create(&labels).inc();
            }
            Observation::Decision(decision) => {
                let verdict = decision.verdict.as_str();
                self.decisions
                    .get_or_create(&VerdictLabels { verdict })
                    .inc();
            }
            Observation::Delivery { outcome, took, .. } => {
                let outcome = match outcome {
                    DeliveryOutcome::Answered => "answered",
                    DeliveryOutcome::Deferred => "deferred",
                    DeliveryOutcome::Failed => "failed",
                    DeliveryOutcome::Gone => "gone",
                };
                let labels = OutcomeLabels { outcome };
                self.deliveries.get_or_create(&labels).inc();
                self.durations.observe(took.as_secs_f64());
            }
            Observation::Suspended { .. } => {
                self.suspensions.inc();
            }
            Observation::UnknownToken => {
                self.unknown_tokens.inc();
            }
            Observation::Overload { .. } => {
                self.overloads.inc();
            }
            Observation::Trouble { .. } => {
                self.troubles.inc();
            }
            Observation::Breaker { .. }
            | Observation::Durability { .. }
            | Observation::Held { .. } => {}
        }
    }
}
