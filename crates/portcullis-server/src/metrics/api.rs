//! Metrics of calls of the API.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Both have a fixed set of values: as many as there are endpoints and statuses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    endpoint: &'static str,
    status: u16,
}

/// Calls of the API.
#[derive(Debug)]
pub(super) struct ApiMetrics {
    calls: Family<CallLabels, Counter>,
}

impl ApiMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let calls = Family::default();
        registry.register(
            "api_requests",
            "Calls of the REST API by endpoint and status",
            calls.clone(),
        );
        Self { calls }
    }

    /// A call was answered.
    pub(super) fn call(&self, endpoint: &'static str, status: u16) {
        let labels = CallLabels { endpoint, status };
        self.calls.get_or_create(&labels).inc();
    }
}
