//! Metrics of telemetry: what is lost. Read when it is scraped.

use portcullis_telemetry::Telemetry;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;

#[derive(Debug)]
struct Dropped(Telemetry);

impl Collector for Dropped {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let help = "Spans and log records that were not delivered";
        let mut family =
            encoder.encode_descriptor("telemetry_dropped", help, None, MetricType::Counter)?;
        for (signal, count) in self.0.dropped() {
            let labels = [("signal", signal)];
            let encoder = family.encode_family(&labels)?;
            ConstCounter::new(count).encode(encoder)?;
        }
        Ok(())
    }
}

/// Adds it to what is shown.
pub(super) fn register(registry: &mut Registry, telemetry: Telemetry) {
    registry.register_collector(Box::new(Dropped(telemetry)));
}
