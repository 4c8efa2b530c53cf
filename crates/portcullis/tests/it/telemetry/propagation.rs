//! The trace context that servers get with forwarded reviews.

use serde_json::json;

use super::collector::Collector;
use super::{CALLER, PARENT, TRACE, ask, exporting, policies};
use crate::harness::{Controller, Gate, Setup, free_port, yes};

/// A gate that forwards to a controller.
fn forwarding(variables: &[(&'static str, String)]) -> (Controller, Gate) {
    let other = Controller::http(yes);
    let code = format!("return forwardToAdmissionController({:?})", other.url);
    let mut config = policies(&[("P", &code)]);
    config["hostCalls"] = json!({"forwardTo": [other.url]});
    let gate = if variables.is_empty() {
        Setup::new(config).start()
    } else {
        exporting(config, variables).start()
    };
    (other, gate)
}

fn nowhere() -> (&'static str, String) {
    let port = free_port();
    (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        format!("http://127.0.0.1:{port}"),
    )
}

#[test]
fn without_an_exporter_a_trace_is_passed_on_unchanged() {
    let (other, gate) = forwarding(&[]);
    ask(&gate, "/validate", &[]);
    assert_eq!(other.last_header("traceparent"), None);
    ask(
        &gate,
        "/validate",
        &[("traceparent", CALLER), ("tracestate", "a=1, b=2")],
    );
    assert_eq!(other.last_header("traceparent").as_deref(), Some(CALLER));
    assert_eq!(other.last_header("tracestate").as_deref(), Some("a=1,b=2"));
    for bad in [
        &[("traceparent", CALLER), ("traceparent", CALLER)][..],
        &[("traceparent", "00-nonsense"), ("tracestate", "a=1")],
        &[("tracestate", "a=1")],
    ] {
        ask(&gate, "/validate", bad);
        assert_eq!(other.last_header("traceparent"), None, "{bad:?}");
        assert_eq!(other.last_header("tracestate"), None, "{bad:?}");
    }
    assert_eq!(
        gate.metrics()
            .total("portcullis_telemetry_dropped_total", &[]),
        0.0
    );
}

#[test]
fn with_an_exporter_our_own_span_is_the_parent() {
    let (other, gate) = forwarding(&[nowhere()]);
    let sent = |headers: &[(&str, &str)]| {
        ask(&gate, "/validate", headers);
        other.last_header("traceparent").unwrap()
    };
    let given = sent(&[("traceparent", CALLER)]);
    assert!(given.starts_with(&format!("00-{TRACE}-")) && given.ends_with("-01"));
    assert!(!given.contains(PARENT), "{given}");
    let unsampled = CALLER.replace("-01", "-00");
    assert!(sent(&[("traceparent", &unsampled)]).ends_with("-00"));
    let (one, two) = (sent(&[]), sent(&[("traceparent", "bad")]));
    for new in [&one, &two] {
        assert!(
            new.len() == 55 && new.ends_with("-01") && !new.contains(TRACE),
            "{new}"
        );
    }
    assert_ne!(one, two);
}

#[test]
fn a_sampler_decides() {
    let sampler = ("OTEL_TRACES_SAMPLER", "parentbased_always_off".to_owned());
    let (other, gate) = forwarding(&[nowhere(), sampler]);
    ask(&gate, "/validate", &[]);
    assert!(other.last_header("traceparent").unwrap().ends_with("-00"));
    ask(&gate, "/validate", &[("traceparent", CALLER)]);
    assert!(other.last_header("traceparent").unwrap().ends_with("-01"));
}

/// Both ends report the same trace.
#[test]
fn the_parent_that_was_forwarded_is_the_span_that_arrives() {
    let Some(collector) = Collector::start() else {
        return;
    };
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let (other, gate) = forwarding(&[endpoint]);
    let unsampled = CALLER.replace("-01", "-00");
    let silent = ask(&gate, "/validate", &[("traceparent", &unsampled)]);
    let id = ask(&gate, "/validate", &[("traceparent", CALLER)]);
    let forwarded = other.last_header("traceparent").unwrap();
    let span = collector.span_of(&id);
    let parts: Vec<_> = forwarded.split('-').collect();
    assert_eq!(span.item["traceId"], parts[1]);
    assert_eq!(span.item["spanId"], parts[2]);
    assert_eq!(span.item["parentSpanId"], PARENT);
    // What the caller doesn't record isn't recorded here; the decision is still logged.
    collector.log_of(&silent);
    let is_silent = |s: &super::collector::Item| s.attribute("portcullis.decision.id") == *silent;
    assert!(!collector.spans().iter().any(is_silent));
}
