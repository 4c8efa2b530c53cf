//! What the decision log counts.

use std::collections::BTreeMap;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Sink {
    sink: &'static str,
}

/// Why decisions are not kept.
const DROPPED: [&str; 5] = [
    "queue_full",
    "unmaskable",
    "not_stored",
    "not_written",
    "not_kept",
];
/// What counts call the store.
pub(super) const STORE: &str = "store";
/// Where decisions are kept.
const SINKS: [&str; 2] = [STORE, "json_lines"];
/// Why they are kept without their objects.
const MAX_INPUT: &str = "max_input";

/// What the decision log counts.
#[derive(Debug, Clone)]
pub(crate) struct DecisionCounts {
    written: Family<Sink, Counter>,
    dropped: Family<Reason, Counter>,
    failures: Family<Sink, Counter>,
    truncated: Family<Reason, Counter>,
    pruned: Counter,
    waiting: Gauge,
}

impl DecisionCounts {
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let counts = Self {
            written: Family::default(),
            dropped: Family::default(),
            failures: Family::default(),
            truncated: Family::default(),
            pruned: Counter::default(),
            waiting: Gauge::default(),
        };
        registry.register(
            "decision_log_written",
            "Decisions recorded",
            counts.written.clone(),
        );
        registry.register(
            "decision_log_dropped",
            "Decisions not recorded: queue_full, unmaskable, not_stored, not_written (lines, without a store), not_kept (required, and denied)",
            counts.dropped.clone(),
        );
        registry.register(
            "decision_log_failures",
            "Failed attempts to record decisions",
            counts.failures.clone(),
        );
        registry.register(
            "decision_log_pruned",
            "Decisions deleted because of their age or size",
            counts.pruned.clone(),
        );
        registry.register(
            "decision_log_truncated",
            "Decisions recorded without their objects: max_input (larger than decisions.maxInput)",
            counts.truncated.clone(),
        );
        registry.register(
            "decision_log_waiting",
            "Decisions waiting in memory to be recorded",
            counts.waiting.clone(),
        );
        // Series that exist from the start can be alerted on.
        for reason in DROPPED {
            drop(counts.dropped.get_or_create(&Reason { reason }));
        }
        drop(
            counts
                .truncated
                .get_or_create(&Reason { reason: MAX_INPUT }),
        );
        counts
    }

    /// How many were recorded since the start, by where.
    pub(crate) fn recorded(&self) -> BTreeMap<&'static str, u64> {
        let count = |sink| Some((sink, self.written.get(&Sink { sink })?.get()));
        SINKS.into_iter().filter_map(count).collect()
    }

    /// How many were not, by why; reasons that never applied are absent.
    pub(crate) fn lost(&self) -> BTreeMap<&'static str, u64> {
        let count = |reason| Some((reason, self.dropped.get(&Reason { reason })?.get()));
        let all = DROPPED.into_iter().filter_map(count);
        all.filter(|(_, count)| *count > 0).collect()
    }

    /// How many wait in memory.
    pub(crate) fn waits(&self) -> u64 {
        u64::try_from(self.waiting.get()).unwrap_or_default()
    }

    pub(super) fn written(&self, sink: &'static str, count: usize) {
        self.written
            .get_or_create(&Sink { sink })
            .inc_by(count as u64);
    }

    pub(super) fn failed(&self, sink: &'static str) {
        self.failures.get_or_create(&Sink { sink }).inc();
    }

    pub(super) fn dropped_full(&self) {
        self.dropped("queue_full");
    }

    pub(super) fn dropped_unmaskable(&self) {
        self.dropped("unmaskable");
    }

    pub(super) fn dropped_unstored(&self, count: usize) {
        let reason = "not_stored";
        let dropped = self.dropped.get_or_create(&Reason { reason });
        dropped.inc_by(count as u64);
    }

    pub(super) fn dropped_unwritten(&self, count: usize) {
        let reason = "not_written";
        let dropped = self.dropped.get_or_create(&Reason { reason });
        dropped.inc_by(count as u64);
    }

    pub(super) fn truncated(&self) {
        let reason = MAX_INPUT;
        self.truncated.get_or_create(&Reason { reason }).inc();
    }

    pub(super) fn waiting(&self, count: usize) {
        self.waiting.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(super) fn dropped_unkept(&self) {
        self.dropped("not_kept");
    }

    pub(super) fn pruned(&self, count: u64) {
        self.pruned.inc_by(count);
    }

    fn dropped(&self, reason: &'static str) {
        self.dropped.get_or_create(&Reason { reason }).inc();
    }
}
