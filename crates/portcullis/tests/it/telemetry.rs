//! Telemetry as others see it: the real OpenTelemetry Collector, and servers that reviews are
//! forwarded to.
//!
//! The tests with the collector are skipped if it is not installed (`scripts/build-collector` builds
//! it), unless `PORTCULLIS_REQUIRE_COLLECTOR` is set.

mod collector;
mod content;
mod delivery;
mod propagation;
mod variables;

use serde_json::{Value, json};

use crate::harness::{Answer, Gate, Review, Setup, pod, request};

/// A caller's place in a trace that is recorded.
const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A configuration with these policies, each a name and a text.
fn policies(list: &[(&str, &str)]) -> Value {
    let list = list
        .iter()
        .map(|(name, code)| json!({"name": name, "code": code}));
    json!({"policies": list.collect::<Vec<_>>(), "defaultAction": "allow"})
}

/// With these variables, and batches that don't wait.
fn exporting(config: Value, variables: &[(&'static str, String)]) -> Setup {
    let setup = Setup::new(config)
        .variable("OTEL_BSP_SCHEDULE_DELAY", "10")
        .variable("OTEL_BLRP_SCHEDULE_DELAY", "10");
    let variables = variables.iter();
    variables.fold(setup, |setup, (name, value)| {
        setup.variable(name, value.clone().leak())
    })
}

/// Asks about a pod, with these headers; the id of the decision.
#[track_caller]
fn ask(gate: &Gate, path: &str, headers: &[(&str, &str)]) -> String {
    ask_about(gate, path, headers, &pod())
}

#[track_caller]
fn ask_about(gate: &Gate, path: &str, headers: &[(&str, &str)], object: &Value) -> String {
    let answer = post(gate, path, headers, &Review::create(object).value());
    let id = answer.json()["response"]["auditAnnotations"]["decision-id"].clone();
    id.as_str()
        .unwrap_or_else(|| panic!("{}", answer.text()))
        .to_owned()
}

#[track_caller]
fn post(gate: &Gate, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let whole = request("POST", path, headers, body.to_string().as_bytes());
    let answer = gate.raw(&whole).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("traceparent"), None);
    answer
}
