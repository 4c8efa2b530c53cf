//! Metrics of reviews that the chain of plug-ins judged.

use std::sync::Arc;

use portcullis_core::{Attributes, StepOutcome, Verdict};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::resources::Resources;
use super::{BUCKETS, Text};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReviewLabels {
    webhook: &'static str,
    operation: &'static str,
    resource: Text,
    verdict: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    webhook: &'static str,
    operation: &'static str,
    verdict: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RejectionLabels {
    source: &'static str,
    operation: &'static str,
    resource: Text,
    plugin: Text,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PluginLabels {
    plugin: Text,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OpenLabels {
    plugin: Text,
}

/// Admission reviews.
#[derive(Debug)]
pub(super) struct AdmissionMetrics {
    resources: Resources,
    reviews: Family<ReviewLabels, Counter>,
    durations: Family<DurationLabels, Histogram>,
    rejections: Family<RejectionLabels, Counter>,
    plugin_failures: Family<PluginLabels, Counter>,
    failed_open: Family<OpenLabels, Counter>,
}

impl AdmissionMetrics {
    pub(super) fn new(r: &mut Registry) -> Self {
        let metrics = Self {
            resources: Resources::default(),
            reviews: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            rejections: Family::default(),
            plugin_failures: Family::default(),
            failed_open: Family::default(),
        };
        r.register(
            "admission_reviews",
            "Admission reviews answered",
            metrics.reviews.clone(),
        );
        r.register(
            "admission_review_duration_seconds",
            "Duration of admission reviews",
            metrics.durations.clone(),
        );
        r.register(
            "rejected",
            "Denied requests, by plug-in",
            metrics.rejections.clone(),
        );
        r.register(
            "plugin_failures",
            "Plug-ins that could not decide",
            metrics.plugin_failures.clone(),
        );
        r.register(
            "failed_open",
            "Reviews in which a plug-in could not decide and was passed over (failure: open)",
            metrics.failed_open.clone(),
        );
        metrics
    }

    /// One admission review was answered.
    pub(super) fn review(&self, webhook: &'static str, request: &Attributes, verdict: &Verdict) {
        let word = word(verdict);
        let operation = request.operation.as_str();
        let resource = self
            .resources
            .label(&request.resource, verdict.is_allowed());
        let labels = ReviewLabels {
            webhook,
            operation,
            resource: resource.clone(),
            verdict: word,
        };
        self.reviews.get_or_create(&labels).inc();
        let labels = DurationLabels {
            webhook,
            operation,
            verdict: word,
        };
        self.durations
            .get_or_create(&labels)
            .observe(verdict.duration.as_secs_f64());
        if let (Some(plugin), Some(denial)) = (&verdict.plugin, verdict.denial()) {
            let labels = RejectionLabels {
                source: request.door.as_str(),
                operation,
                resource,
                plugin: Text(Arc::clone(plugin)),
                reason: reason(&denial.reason),
            };
            self.rejections.get_or_create(&labels).inc();
        }
        let failures = verdict.trace.iter();
        for step in failures.filter(|s| s.failed_open || s.outcome.is_failure()) {
            if step.failed_open {
                let plugin = Text(Arc::clone(&step.plugin));
                self.failed_open.get_or_create(&OpenLabels { plugin }).inc();
            }
            let outcome = match step.outcome {
                failure if failure.is_failure() => failure.as_str(),
                _ => StepOutcome::Error.as_str(),
            };
            let labels = PluginLabels {
                plugin: Text(Arc::clone(&step.plugin)),
                outcome,
            };
            self.plugin_failures.get_or_create(&labels).inc();
        }
    }
}

/// The reason as a label: plug-ins may say what they like, labels may not.
fn reason(said: &str) -> &'static str {
    const KNOWN: [&str; 10] = [
        "BadRequest",
        "Conflict",
        "Forbidden",
        "INTERNAL_ERROR",
        "InternalError",
        "Invalid",
        "NotFound",
        "REJECTED_BY_DEFAULT",
        "TooManyRequests",
        "VIOLATES_POLICY",
    ];
    KNOWN
        .into_iter()
        .find(|known| *known == said)
        .unwrap_or("Other")
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        v if v.is_undecided() => "error",
        v if !v.is_allowed() => "deny",
        v if !v.patch.is_empty() => "mutate",
        v if !v.warnings.is_empty() => "warn",
        _ => "allow",
    }
}
