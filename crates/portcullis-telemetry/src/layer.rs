//! Exports the server's own log as log records.
//!
//! Not exported: what policies write, and what a door says of a decision, which may repeat texts of
//! policies and callers (the decision has a record of its own); what this crate logs, and what the
//! libraries log that it sends with, or each batch would make another.

use std::fmt;
use std::sync::Arc;

use portcullis_core::clock;
use portcullis_core::text::start;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterFn, LevelFilter};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::otlp::{Attribute, attribute, nanoseconds};
use crate::queue::Queue;
use crate::wire::Message;

/// Targets of events that are not exported, with everything below them. What is about one decision or policy has
/// a target of its own, so that it is kept here wherever the code is.
const KEPT_HERE: [&str; 3] = [
    "portcullis::decision",
    "portcullis::policy",
    "portcullis_telemetry",
];

/// The most characters of a line.
const LONGEST: usize = 4096;

/// The layer.
#[derive(Debug)]
struct Exporting {
    queue: Arc<Queue>,
}

/// A layer that puts events into this queue.
pub(crate) fn exporting<S>(queue: Arc<Queue>) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter = FilterFn::new(is_exported as fn(&Metadata<'_>) -> bool);
    let filter = filter.with_max_level_hint(LevelFilter::INFO);
    Exporting { queue }.with_filter(filter)
}

fn is_exported(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= Level::INFO && is_ours(metadata.target())
}

fn is_ours(target: &str) -> bool {
    let is_below = |part: &str| {
        let rest = target.strip_prefix(part);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    target.starts_with("portcullis") && !KEPT_HERE.into_iter().any(is_below)
}

impl<S: Subscriber> Layer<S> for Exporting {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (severity, name) = match *event.metadata().level() {
            Level::ERROR => (17, "ERROR"),
            Level::WARN => (13, "WARN"),
            _ => (9, "INFO"),
        };
        let now = nanoseconds(clock::wall());
        let mut record = Message::with_capacity(256);
        record.fixed64(1, now);
        record.number(2, severity);
        record.text(3, name);
        let mut fields = Fields {
            record,
            message: String::new(),
        };
        event.record(&mut fields);
        let Fields {
            mut record,
            message,
        } = fields;
        record.message(5, |body| body.text(1, &message));
        let target = Attribute::Text(event.metadata().target());
        attribute(&mut record, 6, "log.target", target);
        record.fixed64(11, now);
        self.queue.push(std::iter::once(record.into_bytes()));
    }
}

/// Writes the fields of an event down; its message is kept apart.
struct Fields {
    record: Message,
    message: String,
}

impl Fields {
    fn add(&mut self, field: &Field, text: &str) {
        if field.name() == "message" {
            self.message = start(text, LONGEST).to_owned();
        } else {
            attribute(&mut self.record, 6, field.name(), Attribute::Text(text));
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let value = Attribute::Number(value);
        attribute(&mut self.record, 6, field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        let value = Attribute::Bool(value);
        attribute(&mut self.record, 6, field.name(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_events_stay_here() {
        for ours in [
            "portcullis_server::run",
            "portcullis",
            "portcullis::decisions_of_others",
            "portcullis_store",
        ] {
            assert!(is_ours(ours), "{ours}");
        }
        for other in [
            "portcullis::policy",
            "portcullis::decision",
            "portcullis_telemetry::exporter",
            "hyper::client",
            "h2",
            "rustls",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
