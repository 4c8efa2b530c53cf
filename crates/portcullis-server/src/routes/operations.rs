//! `/livez`, `/readyz` and `/metrics`.

use hyper::{Method, StatusCode};
use portcullis_config::{Service, Style};

use crate::http::Response;
use crate::http::error::with_type;
use crate::metrics::Metrics;
use crate::readiness;
use crate::server::Server;

const PLAIN: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What operators ask a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Live,
    Ready,
    Metrics,
}

impl Operation {
    /// What a path means. In the style of acjs only questions are asked there, the rest is reviews.
    pub(super) fn at(path: &str, method: &Method, style: Style) -> Option<Self> {
        let operation = match path {
            "/livez" => Self::Live,
            "/readyz" => Self::Ready,
            "/metrics" => Self::Metrics,
            _ => return None,
        };
        (style == Style::Doors || Self::takes(method)).then_some(operation)
    }

    /// It is answered at listeners that serve this.
    pub(super) fn service(self) -> Service {
        match self {
            Self::Live | Self::Ready => Service::Health,
            Self::Metrics => Service::Metrics,
        }
    }

    /// Whether it may be asked by this method.
    pub(super) fn takes(method: &Method) -> bool {
        method == Method::GET || method == Method::HEAD
    }

    /// Answers.
    pub(super) fn answer(self, server: &Server, query: Option<&str>) -> Response {
        match self {
            // This code answers, so the server is alive.
            Self::Live => with_type(StatusCode::OK, b"ok".to_vec(), PLAIN),
            Self::Ready => ready(server, query),
            Self::Metrics => metrics(&server.metrics),
        }
    }
}

/// Whether requests should come here; `?verbose` says why, `?exclude=NAME` leaves a check out.
fn ready(server: &Server, query: Option<&str>) -> Response {
    let words: Vec<&str> = query.unwrap_or_default().split('&').collect();
    let excluded: Vec<&str> = words
        .iter()
        .filter_map(|w| w.strip_prefix("exclude="))
        .collect();
    let is_verbose = words
        .iter()
        .any(|w| *w == "verbose" || w.starts_with("verbose="));
    let (is_ready, text) = readiness::readiness(server, &excluded);
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
fn metrics(metrics: &Metrics) -> Response {
    with_type(StatusCode::OK, metrics.text().into_bytes(), OPEN_METRICS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_style_of_acjs_reviews_may_be_posted_anywhere() {
        for (method, path, operation, is_acjs_too) in [
            (Method::GET, "/livez", Some(Operation::Live), true),
            (Method::HEAD, "/readyz", Some(Operation::Ready), true),
            (Method::GET, "/metrics", Some(Operation::Metrics), true),
            (Method::POST, "/readyz", Some(Operation::Ready), false),
            (Method::GET, "/livez/x", None, true),
            (Method::GET, "/", None, true),
        ] {
            let at = |style| Operation::at(path, &method, style);
            assert_eq!(at(Style::Doors), operation, "{method} {path}");
            let in_acjs = operation.filter(|_| is_acjs_too);
            assert_eq!(at(Style::Acjs), in_acjs, "{method} {path}");
        }
    }
}
