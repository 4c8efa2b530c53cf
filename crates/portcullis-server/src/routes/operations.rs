//! `/livez`, `/readyz` and `/metrics`.

use hyper::StatusCode;

use crate::health::{PoliciesHealth, StoreHealth};
use crate::http::Response;
use crate::http::error::with_type;
use crate::metrics::Metrics;
use crate::server::Server;

const PLAIN: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Somebody answers, so the server lives.
pub(super) fn live() -> Response {
    with_type(StatusCode::OK, b"ok".to_vec(), PLAIN)
}

/// Whether requests should come here; `?verbose` says why, `?exclude=NAME` leaves a check out.
pub(super) fn ready(server: &Server, query: Option<&str>) -> Response {
    let words: Vec<&str> = query.unwrap_or_default().split('&').collect();
    let excluded: Vec<&str> = words
        .iter()
        .filter_map(|w| w.strip_prefix("exclude="))
        .collect();
    let is_verbose = words
        .iter()
        .any(|w| *w == "verbose" || w.starts_with("verbose="));
    let gate = server.gate.load();
    let (is_ready, text) = server.health.readiness(
        &excluded,
        &StoreHealth::of(&server.decisions),
        &gate.graphs,
        PoliciesHealth::of(&server.guard, &gate.engine),
    );
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let text = if is_ready && !is_verbose {
        "ok".to_owned()
    } else {
        text
    };
    with_type(status, text.into_bytes(), PLAIN)
}

/// Everything that is counted.
pub(super) fn metrics(metrics: &Metrics) -> Response {
    with_type(StatusCode::OK, metrics.text().into_bytes(), OPEN_METRICS)
}
