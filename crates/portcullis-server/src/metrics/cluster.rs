//! Metrics of the cluster's objects that plug-ins and policies look up, computed when they are scraped.

use std::sync::Arc;

use arc_swap::ArcSwap;
use portcullis_gate::cluster::ClusterInForce;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// The cluster whose objects are counted.
#[derive(Debug, Clone)]
pub(crate) struct ClusterMetrics(Arc<ArcSwap<ClusterInForce>>);

impl ClusterMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self(Arc::default());
        registry.register_collector(Box::new(metrics.clone()));
        metrics
    }

    /// This cluster is in force.
    pub(crate) fn show(&self, cluster: &ClusterInForce) {
        self.0.store(Arc::new(cluster.clone()));
    }
}

impl Collector for ClusterMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let cluster = self.0.load();
        if !cluster.is_configured() {
            return Ok(());
        }
        let kinds = cluster.kinds();
        let series = [
            (
                "kube_objects",
                "Objects of the cluster that are kept for plug-ins and policies",
                kinds.iter().map(|kind| kind.objects).collect::<Vec<_>>(),
            ),
            (
                "kube_object_bytes",
                "Memory of these objects",
                kinds.iter().map(|kind| kind.bytes).collect(),
            ),
            (
                "kube_known",
                "1 if all objects of the kind are known, 0 if requests that need them can't be decided",
                kinds
                    .iter()
                    .map(|kind| usize::from(kind.is_known))
                    .collect(),
            ),
            (
                "kube_too_large",
                "1 if the objects of the kind exceed the memory limit",
                kinds
                    .iter()
                    .map(|kind| usize::from(kind.is_too_large))
                    .collect(),
            ),
        ];
        for (name, help, values) in series {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (kind, value) in kinds.iter().zip(values) {
                let labels = [("kind", kind.kind.to_string())];
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Age of the last known current state of the cluster's objects";
        let lag = encoder.encode_descriptor("kube_lag_seconds", help, None, MetricType::Gauge)?;
        ConstGauge::new(cluster.lag().as_secs_f64()).encode(lag)
    }
}
