//! Metrics, in the `OpenMetrics` text format.
//!
//! Labels never hold names, namespaces, users or messages; what callers choose freely (a resource)
//! has a bounded number of values, see [`resources`].

mod admission;
mod api;
mod authorization;
mod ci;
mod cluster;
mod graph;
mod policies;
mod process;
mod resources;
mod telemetry;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::{AccessVerdict, Attributes, HostCallStep, PolicyStep, Verdict, clock};
use portcullis_telemetry::Telemetry;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::decisions::DecisionCounts;
use admission::AdmissionMetrics;
use api::ApiMetrics;
use authorization::AuthorizationMetrics;
pub(crate) use ci::CiMetrics;
pub(crate) use cluster::ClusterMetrics;
pub(crate) use graph::GraphMetrics;
pub(crate) use policies::GuardMetrics;
use policies::PolicyMetrics;

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
    /// Of the process, with names of their own.
    process: Registry,
    errors: Family<ErrorLabels, Counter>,
    connections: Family<ListenerLabels, Gauge>,
    certificates: Family<ListenerLabels, Gauge>,
    policies: PolicyMetrics,
    admission: AdmissionMetrics,
    authorization: AuthorizationMetrics,
    api: ApiMetrics,
    /// What is counted of CI jobs.
    pub(crate) ci: CiMetrics,
    /// What is counted of the graphs.
    pub(crate) graphs: GraphMetrics,
    /// What is known of the cluster's objects.
    pub(crate) cluster: ClusterMetrics,
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
        let ci = CiMetrics::new(&mut registry);
        let graphs = GraphMetrics::new(&mut registry);
        let cluster = ClusterMetrics::new(&mut registry);
        let decisions = DecisionCounts::new(&mut registry);
        let admission = AdmissionMetrics::new(&mut registry);
        let authorization = AuthorizationMetrics::new(&mut registry);
        let mut metrics = Self {
            registry,
            process: process::registry(),
            policies,
            admission,
            authorization,
            api,
            ci,
            graphs,
            cluster,
            decisions,
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
        self.admission.review(webhook, request, verdict);
        self.policies.review(verdict);
    }

    /// Policies of the configuration were asked about a job.
    pub(crate) fn job_policies(&self, policies: &[PolicyStep], calls: &[HostCallStep]) {
        self.policies.evaluated(policies, calls);
    }

    /// How often a policy was asked since the start, by what it said.
    pub(crate) fn policy_counts(&self, policy: &str) -> BTreeMap<&'static str, u64> {
        self.policies.counts(policy)
    }

    /// One access review was answered.
    pub(crate) fn access(&self, verdict: &AccessVerdict) {
        self.authorization.review(verdict);
    }

    /// A request was rejected before it was judged.
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
        // Writing to a string can't fail.
        let _ = encode_registry(&mut text, &self.registry);
        let _ = encode_registry(&mut text, &self.process);
        let _ = encode_eof(&mut text);
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
