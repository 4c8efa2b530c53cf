//! The messages of OTLP 1: only field numbers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_core::text::start;

use crate::wire::{Message, Value, fields};

/// The most characters of a text that others chose.
const LONGEST: usize = 256;

/// The two things that are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Logs,
}

impl Signal {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Logs => "logs",
        }
    }

    /// The method of the gRPC service.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            Self::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        }
    }
}

/// What an attribute holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Attribute<'a> {
    Text(&'a str),
    Number(u64),
    Bool(bool),
}

/// Writes a `KeyValue`.
pub(crate) fn attribute(message: &mut Message, field: u32, key: &str, value: Attribute<'_>) {
    message.message(field, |pair| {
        pair.text(1, key);
        pair.message(2, |any| match value {
            Attribute::Text(text) => any.text(1, start(text, LONGEST)),
            Attribute::Number(number) => any.number(3, number),
            Attribute::Bool(truth) => any.number(2, truth.into()),
        });
    });
}

/// Nanoseconds since 1970.
pub(crate) fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A `Resource`: the sender.
pub(crate) fn resource(attributes: &[(String, String)]) -> Vec<u8> {
    let mut message = Message::default();
    for (key, value) in attributes {
        attribute(&mut message, 1, key, Attribute::Text(value));
    }
    message.into_bytes()
}

/// An `ExportTraceServiceRequest` of spans, or an `ExportLogsServiceRequest` of log records: they
/// have the same numbers.
pub(crate) fn request(resource: &[u8], items: &[Vec<u8>]) -> Vec<u8> {
    let size = items.iter().map(|item| item.len() + 4).sum::<usize>();
    let mut message = Message::with_capacity(size + resource.len() + 64);
    message.message(1, |of_resource| {
        of_resource.bytes(1, resource);
        of_resource.message(2, |of_scope| {
            of_scope.message(1, |scope| {
                scope.text(1, "portcullis");
                scope.text(2, env!("CARGO_PKG_VERSION"));
            });
            for item in items {
                of_scope.bytes(2, item);
            }
        });
    });
    message.into_bytes()
}

/// How many items of a request the receiver rejected, as its answer says.
pub(crate) fn rejected(answer: &[u8]) -> u64 {
    let partial = fields(answer).find_map(|field| match field {
        (1, Value::Bytes(partial)) => Some(partial),
        _ => None,
    });
    let mut rejected = fields(partial.unwrap_or_default());
    let rejected = rejected.find_map(|field| match field {
        (1, Value::Number(count)) => Some(count),
        _ => None,
    });
    rejected.unwrap_or_default()
}
