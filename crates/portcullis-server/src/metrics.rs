//! What is counted, in the `OpenMetrics` text format.
//!
//! Labels never hold names, namespaces, users or messages; what callers choose freely (a resource)
//! has a bounded number of places, see [`resources`].

mod api;
mod graph;
mod policies;
mod resources;
mod telemetry;

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::{AccessVerdict, Attributes, StepOutcome, Verdict, clock};
use portcullis_telemetry::Telemetry;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::decisions::DecisionCounts;
use api::ApiMetrics;
pub(crate) use graph::GraphMetrics;
pub(crate) use policies::GuardMetrics;
use policies::PolicyMetrics;
use resources::Resources;

const BUCKETS: [f64; 10] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5,
];

/// A label value that is cheap to copy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Text(Arc<str>);

impl EncodeLabelValue for Text {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.0.as_ref(), encoder)
    }
}

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

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AuthorizerLabels {
    authorizer: Text,
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ListenerLabels {
    listener: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    code: &'static str,
}

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    resources: Resources,
    reviews: Family<ReviewLabels, Counter>,
    durations: Family<DurationLabels, Histogram>,
    rejections: Family<RejectionLabels, Counter>,
    plugin_failures: Family<PluginLabels, Counter>,
    failed_open: Family<OpenLabels, Counter>,
    access: Family<AuthorizerLabels, Counter>,
    access_durations: Family<AuthorizerLabels, Histogram>,
    errors: Family<ErrorLabels, Counter>,
    connections: Family<ListenerLabels, Gauge>,
    certificates: Family<ListenerLabels, Gauge>,
    policies: PolicyMetrics,
    api: ApiMetrics,
    /// What is counted of the graphs.
    pub(crate) graphs: GraphMetrics,
    /// What the decision log counts.
    pub(crate) decisions: DecisionCounts,
    reload_ok: Gauge,
    reload_time: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("portcullis");
        let policies = PolicyMetrics::new(&mut registry);
        let api = ApiMetrics::new(&mut registry);
        let graphs = GraphMetrics::new(&mut registry);
        let decisions = DecisionCounts::new(&mut registry);
        let mut metrics = Self {
            registry,
            policies,
            api,
            graphs,
            decisions,
            resources: Resources::default(),
            reviews: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            rejections: Family::default(),
            plugin_failures: Family::default(),
            failed_open: Family::default(),
            access: Family::default(),
            access_durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            errors: Family::default(),
            connections: Family::default(),
            certificates: Family::default(),
            reload_ok: Gauge::default(),
            reload_time: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    /// What is counted of evaluations that could not be stopped.
    pub(crate) fn guard(&self) -> GuardMetrics {
        self.policies.guard.clone()
    }

    /// The same with what telemetry loses.
    pub(crate) fn with_telemetry(mut self, telemetry: Option<&Telemetry>) -> Self {
        if let Some(telemetry) = telemetry {
            telemetry::register(&mut self.registry, telemetry.clone());
        }
        self
    }

    fn register(&mut self) {
        let r = &mut self.registry;
        r.register(
            "admission_reviews",
            "Admission reviews answered",
            self.reviews.clone(),
        );
        r.register(
            "admission_review_duration_seconds",
            "Duration of admission reviews",
            self.durations.clone(),
        );
        r.register(
            "rejected",
            "Denied requests, by plug-in",
            self.rejections.clone(),
        );
        r.register(
            "plugin_failures",
            "Plug-ins that could not decide",
            self.plugin_failures.clone(),
        );
        r.register(
            "failed_open",
            "Reviews in which a plug-in could not decide and was passed over (failure: open)",
            self.failed_open.clone(),
        );
        r.register(
            "authorization_decisions",
            "Access reviews answered",
            self.access.clone(),
        );
        r.register(
            "authorization_duration_seconds",
            "Duration of access reviews",
            self.access_durations.clone(),
        );
        r.register(
            "http_errors",
            "Requests rejected before evaluation",
            self.errors.clone(),
        );
        r.register("connections", "Open connections", self.connections.clone());
        r.register(
            "certificate_expiration_timestamp_seconds",
            "Expiry time of a listener's certificate",
            self.certificates.clone(),
        );
        r.register(
            "config_last_reload_successful",
            "Whether the last reload took effect",
            self.reload_ok.clone(),
        );
        r.register(
            "config_last_reload_success_timestamp_seconds",
            "When the configuration last took effect",
            self.reload_time.clone(),
        );
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        r.register("build", "Version of the running server", build);
    }

    /// One admission review was answered.
    pub(crate) fn review(&self, webhook: &'static str, request: &Attributes, verdict: &Verdict) {
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
                source: "kubernetes",
                operation,
                resource,
                plugin: Text(Arc::clone(plugin)),
                reason: reason(&denial.reason),
            };
            self.rejections.get_or_create(&labels).inc();
        }
        self.policies.review(verdict);
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

    /// One access review was answered.
    pub(crate) fn access(&self, verdict: &AccessVerdict) {
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
        self.access.get_or_create(&labels).inc();
        self.access_durations
            .get_or_create(&labels)
            .observe(verdict.duration.as_secs_f64());
    }

    /// A request was refused before it was judged.
    pub(crate) fn error(&self, code: &'static str) {
        self.errors.get_or_create(&ErrorLabels { code }).inc();
    }

    /// A call of the API was answered.
    pub(crate) fn call(&self, endpoint: &'static str, status: u16) {
        self.api.call(endpoint, status);
    }

    /// A connection is open as long as the returned value lives.
    pub(crate) fn connection(&self, listener: &str) -> OpenConnection {
        let labels = ListenerLabels {
            listener: listener.to_owned(),
        };
        let gauge = self.connections.get_or_create(&labels).clone();
        gauge.inc();
        OpenConnection(gauge)
    }

    /// Expiry time of a listener's certificate.
    pub(crate) fn certificate(&self, listener: &str, expires_at: i64) {
        let labels = ListenerLabels {
            listener: listener.to_owned(),
        };
        self.certificates.get_or_create(&labels).set(expires_at);
    }

    /// The configuration took effect, or did not.
    pub(crate) fn reloaded(&self, is_ok: bool) {
        self.reload_ok.set(i64::from(is_ok));
        if is_ok {
            let now = clock::wall().duration_since(std::time::UNIX_EPOCH);
            let seconds = now.map(|d: Duration| d.as_secs()).unwrap_or_default();
            self.reload_time
                .set(i64::try_from(seconds).unwrap_or_default());
        }
    }

    /// All of it as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Counts a connection as long as it lives.
#[derive(Debug)]
pub(crate) struct OpenConnection(Gauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_build_and_the_reload() {
        let metrics = Metrics::new();
        metrics.reloaded(true);
        let text = metrics.text();
        assert!(text.contains("portcullis_build_info{version="));
        assert!(text.contains("portcullis_config_last_reload_successful 1"));
        assert!(text.ends_with("# EOF\n"));
    }
}
