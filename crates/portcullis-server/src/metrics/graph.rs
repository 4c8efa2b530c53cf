//! Metrics of the graphs: changes, path checks, malformed objects, and, when they are scraped, their
//! size and how far they lag behind.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use portcullis_core::printable;
use portcullis_graph::{KindId, Kinds, Observer, Profile, Update};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::Text;
use portcullis_gate::GraphWatcher;
use portcullis_gate::graphs::Graphs;

/// Twelve bounds, the first 100 microseconds, each twice the one before.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.000_1, 2.0, 12))
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UpdateLabels {
    profile: Text,
    kind: Text,
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CheckLabels {
    profile: Text,
    from_kind: Text,
    to_kind: Text,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    profile: Text,
    kind: Text,
}

type Updates = Family<UpdateLabels, Histogram, fn() -> Histogram>;
type Checks = Family<CheckLabels, Histogram, fn() -> Histogram>;

/// What is counted of the graphs.
#[derive(Debug, Clone)]
pub(crate) struct GraphMetrics {
    updates: Updates,
    checks: Checks,
    malformed: Family<KindLabels, Counter>,
    /// The graphs in force.
    current: Arc<ArcSwap<Graphs>>,
}

impl GraphMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            updates: Family::new_with_constructor(histogram),
            checks: Family::new_with_constructor(histogram),
            malformed: Family::default(),
            current: Arc::default(),
        };
        registry.register(
            "graph_update_duration_seconds",
            "Duration of resource dependency graph updates",
            metrics.updates.clone(),
        );
        registry.register(
            "graph_path_check_duration_seconds",
            "Duration of path checks in a resource dependency graph",
            metrics.checks.clone(),
        );
        registry.register(
            "graph_malformed_objects",
            "Malformed objects received",
            metrics.malformed.clone(),
        );
        registry.register_collector(Box::new(Sizes(Arc::clone(&metrics.current))));
        metrics
    }

    /// These graphs are in force.
    pub(crate) fn show(&self, graphs: &Graphs) {
        self.current.store(Arc::new(graphs.clone()));
    }
}

impl GraphWatcher for GraphMetrics {
    fn observer(&self, profile: &str, compiled: &Profile) -> Arc<dyn Observer> {
        let kinds = compiled.kinds.len();
        let empty = |count: usize| (0..count).map(|_| OnceLock::new()).collect();
        Arc::new(ProfileObserver {
            profile: Text(Arc::from(profile)),
            kinds: Arc::clone(&compiled.kinds),
            updates: empty(kinds * OPERATIONS.len()),
            checks: empty(kinds * kinds),
            metrics: self.clone(),
        })
    }
}

/// The words of the source document's own metrics, and ours for what it leaves stale.
const OPERATIONS: [(Update, &str); 3] = [
    (Update::Apply, "CreateOrUpdate"),
    (Update::Delete, "Delete"),
    (Update::Reevaluate, "Reevaluate"),
];

/// Keeps the series it needs, so that counting needs no look-up.
#[derive(Debug)]
struct ProfileObserver {
    profile: Text,
    kinds: Arc<Kinds>,
    /// By kind and operation.
    updates: Vec<OnceLock<Histogram>>,
    /// By kind and kind.
    checks: Vec<OnceLock<Histogram>>,
    metrics: GraphMetrics,
}

impl ProfileObserver {
    fn kind(&self, id: KindId) -> Text {
        Text(Arc::from(self.kinds.name(id)))
    }
}

impl Observer for ProfileObserver {
    fn updated(&self, kind: KindId, update: Update, took: Duration) {
        let number = OPERATIONS.iter().position(|(one, _)| *one == update);
        let number = number.unwrap_or_default();
        let place = usize::from(kind.0) * OPERATIONS.len() + number;
        let series = self.updates.get(place);
        let make = || {
            let labels = UpdateLabels {
                profile: self.profile.clone(),
                kind: self.kind(kind),
                operation: OPERATIONS.get(number).map_or("", |(_, word)| word),
            };
            self.metrics.updates.get_or_create(&labels).clone()
        };
        if let Some(series) = series {
            series.get_or_init(make).observe(took.as_secs_f64());
        }
    }

    fn checked(&self, from: KindId, to: KindId, took: Duration) {
        let place = usize::from(from.0) * self.kinds.len() + usize::from(to.0);
        let make = || {
            let labels = CheckLabels {
                profile: self.profile.clone(),
                from_kind: self.kind(from),
                to_kind: self.kind(to),
            };
            self.metrics.checks.get_or_create(&labels).clone()
        };
        if let Some(series) = self.checks.get(place) {
            series.get_or_init(make).observe(took.as_secs_f64());
        }
    }

    fn malformed(&self, kind: KindId, why: &str) {
        let name = self.kinds.name(kind);
        tracing::debug!(profile = %self.profile.0, kind = name, "malformed object: {}", printable(why));
        let labels = KindLabels {
            profile: self.profile.clone(),
            kind: self.kind(kind),
        };
        self.metrics.malformed.get_or_create(&labels).inc();
    }
}

/// Sizes and lag, computed when they are scraped.
#[derive(Debug)]
struct Sizes(Arc<ArcSwap<Graphs>>);

impl Collector for Sizes {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let graphs = self.0.load();
        let mut sizes = Vec::new();
        for profile in graphs.iter() {
            let state = profile.state();
            for graph in state.graphs() {
                let target = state.profile().kinds.name(graph.shape().target).to_owned();
                sizes.push((profile.name.clone(), target, graph.counts()));
            }
        }
        let gauge = MetricType::Gauge;
        let mut family =
            encoder.encode_descriptor("graph_vertices", "Vertices of a graph", None, gauge)?;
        for (profile, target, (vertices, _)) in &sizes {
            let labels = [("profile", profile.as_str()), ("target", target.as_str())];
            ConstGauge::new(count(*vertices)).encode(family.encode_family(&labels)?)?;
        }
        let mut family =
            encoder.encode_descriptor("graph_edges", "Edges of a graph", None, gauge)?;
        for (profile, target, (_, edges)) in &sizes {
            let labels = [("profile", profile.as_str()), ("target", target.as_str())];
            ConstGauge::new(count(*edges)).encode(family.encode_family(&labels)?)?;
        }
        let help = "Age of the last known current state of a profile's objects";
        let mut family = encoder.encode_descriptor("graph_lag_seconds", help, None, gauge)?;
        for profile in graphs.iter() {
            let labels = [("profile", profile.name.as_str())];
            let lag = profile.lag().as_secs_f64();
            ConstGauge::new(lag).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
