//! The trace that a request is a part of.

use hyper::header::{HeaderMap, HeaderValue};
use portcullis_core::TraceContext;
use portcullis_telemetry::Telemetry;

/// The place of a request in its trace. Where nothing is exported that is the caller's, if there is
/// one: without recording, the incoming context is passed on unchanged.
pub(crate) fn begin(telemetry: Option<&Telemetry>, headers: &HeaderMap) -> Option<TraceContext> {
    let all = |name| headers.get_all(name).into_iter().map(HeaderValue::as_bytes);
    let caller = TraceContext::of(all("traceparent"), all("tracestate"));
    match telemetry {
        Some(telemetry) => telemetry.begin(caller),
        None => caller,
    }
}
