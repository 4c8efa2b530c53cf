//! Metrics of policies. Their names come from the configuration, so there are few.

use std::collections::BTreeMap;

use portcullis_core::{HostCallStep, PolicyMode, PolicyOutcome, PolicyStep, Step, Verdict};
use portcullis_js::GuardStatus;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::BUCKETS;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PolicyLabels {
    policy: String,
    mode: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    policy: String,
    limit: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HostCallLabels {
    function: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CulpritLabels {
    policy: String,
}

/// What is counted of evaluations that could not be stopped.
#[derive(Debug, Clone, Default)]
pub(crate) struct GuardMetrics {
    in_processes: Gauge,
    unavailable: Gauge,
    lost: Gauge,
    given_up: Family<CulpritLabels, Counter>,
    killed: Family<CulpritLabels, Counter>,
}

impl GuardMetrics {
    fn register(&self, registry: &mut Registry) {
        registry.register(
            "policy_guarded",
            "Whether some policies are evaluated in worker processes because one could not be stopped",
            self.in_processes.clone(),
        );
        registry.register(
            "policy_processes_unavailable",
            "Whether worker processes are needed and can't be started",
            self.unavailable.clone(),
        );
        registry.register(
            "policy_threads_lost",
            "Abandoned evaluation threads that are still running",
            self.lost.clone(),
        );
        registry.register(
            "policy_threads_abandoned",
            "Evaluation threads that did not stop at the deadline",
            self.given_up.clone(),
        );
        registry.register(
            "policy_evaluations_killed",
            "Evaluations in worker processes that did not stop at the deadline",
            self.killed.clone(),
        );
    }

    /// How things are.
    pub(crate) fn show(&self, status: &GuardStatus) {
        self.in_processes.set(status.is_on().into());
        self.unavailable.set(status.fault.is_some().into());
        let lost = i64::try_from(status.lost_threads);
        self.lost.set(lost.unwrap_or(i64::MAX));
    }

    /// A thread was given up.
    pub(crate) fn given_up(&self, policy: Option<&str>) {
        self.given_up.get_or_create(&culprit(policy)).inc();
    }

    /// A process was killed.
    pub(crate) fn killed(&self, policy: Option<&str>) {
        self.killed.get_or_create(&culprit(policy)).inc();
    }
}

/// The policy that ran; an empty name where that is not known.
fn culprit(policy: Option<&str>) -> CulpritLabels {
    CulpritLabels {
        policy: policy.unwrap_or_default().to_owned(),
    }
}

/// What is counted of policies.
#[derive(Debug)]
pub(super) struct PolicyMetrics {
    pub(super) guard: GuardMetrics,
    evaluations: Family<PolicyLabels, Counter>,
    limits: Family<LimitLabels, Counter>,
    durations: Histogram,
    host_calls: Family<HostCallLabels, Counter>,
    host_call_durations: Family<HostCallLabels, Histogram>,
}

impl PolicyMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            guard: GuardMetrics::default(),
            evaluations: Family::default(),
            limits: Family::default(),
            durations: Histogram::new(BUCKETS),
            host_calls: Family::default(),
            host_call_durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
        };
        registry.register(
            "policy_evaluations",
            "Policy evaluations, by outcome",
            metrics.evaluations.clone(),
        );
        registry.register(
            "policy_limits",
            "Policy evaluations that hit a limit",
            metrics.limits.clone(),
        );
        registry.register(
            "policy_duration_seconds",
            "Duration of all policies of a review, queueing included",
            metrics.durations.clone(),
        );
        registry.register(
            "policy_host_calls",
            "Host calls of policies",
            metrics.host_calls.clone(),
        );
        registry.register(
            "policy_host_call_duration_seconds",
            "Duration of host calls of policies",
            metrics.host_call_durations.clone(),
        );
        metrics.guard.register(registry);
        metrics
    }

    /// How often a policy was asked since the start, by what it said.
    pub(super) fn counts(&self, policy: &str) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        let all = PolicyMode::ALL.iter();
        for (mode, outcome) in
            all.flat_map(|mode| PolicyOutcome::ALL.iter().map(move |o| (mode, o)))
        {
            let labels = PolicyLabels {
                policy: policy.to_owned(),
                mode: mode.as_str(),
                outcome: outcome.as_str(),
            };
            if let Some(count) = self.evaluations.get(&labels) {
                *counts.entry(outcome.as_str()).or_default() += count.get();
            }
        }
        counts
    }

    /// A review was answered.
    pub(super) fn review(&self, verdict: &Verdict) {
        for step in verdict.trace.iter().filter(|s| !s.policies.is_empty()) {
            self.step(step);
        }
    }

    fn step(&self, step: &Step) {
        self.evaluated(&step.policies, &step.host_calls);
        self.durations.observe(step.duration.as_secs_f64());
    }

    /// Policies were evaluated, for a review or a job.
    pub(super) fn evaluated(&self, policies: &[PolicyStep], calls: &[HostCallStep]) {
        let asked = policies.iter();
        for policy in asked.filter(|p| p.outcome != PolicyOutcome::Skip) {
            let labels = PolicyLabels {
                policy: policy.name.clone(),
                mode: policy.mode.as_str(),
                outcome: policy.outcome.as_str(),
            };
            self.evaluations.get_or_create(&labels).inc();
            if let Some(limit) = policy.limit {
                let (policy, limit) = (policy.name.clone(), limit.as_str());
                self.limits
                    .get_or_create(&LimitLabels { policy, limit })
                    .inc();
            }
        }
        for call in calls {
            let outcome = if call.error.is_some() { "error" } else { "ok" };
            let labels = HostCallLabels {
                function: call.function.as_str(),
                outcome,
            };
            self.host_calls.get_or_create(&labels).inc();
            self.host_call_durations
                .get_or_create(&labels)
                .observe(call.duration.as_secs_f64());
        }
    }
}
