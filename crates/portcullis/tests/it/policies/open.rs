//! Policies that fail open say so.

use serde_json::json;

use super::{named, native};
use crate::harness::{Gate, until};

#[test]
fn a_failure_that_is_passed_over_is_in_the_answer_the_log_and_the_metrics() {
    let mut config = native(&[
        ("throws", "if (req.name !== 'deny') object.nothing.at.all"),
        ("loops", "if (req.name === 'loop') for (;;);"),
        ("last", "if (req.name === 'deny') return 'no'"),
    ]);
    config["admission"] = json!({"plugins": [{"name": "Policies", "failure": "open"}]});
    config["defaultAction"] = json!("allow");
    config["limits"] = json!({"deadline": "1s"});
    let gate = Gate::start(config);
    let verdict = gate.ask("/validate", &named("throw"));
    verdict.allowed();
    assert_eq!(verdict.annotation("failed-open"), Some("Policies: throws"));
    let verdict = gate.ask("/validate", &named("loop"));
    verdict.allowed();
    let said = verdict.annotation("failed-open").unwrap();
    assert!(said.starts_with("Policies: throws"), "{said}");
    assert!(said.ends_with("last (not asked)"), "{said}");
    let verdict = gate.ask("/validate", &named("deny"));
    verdict.denied("no");
    assert_eq!(verdict.annotation("failed-open"), None);
    let metrics = gate.metrics();
    let plugin = [("plugin", "Policies")];
    assert_eq!(metrics.total("portcullis_failed_open_total", &plugin), 2.0);
    assert_eq!(
        metrics.total("portcullis_plugin_failures_total", &plugin),
        2.0
    );
    until("the log says so", || {
        let log = gate.log();
        let lines = log.lines().filter(|line| line.contains("failed_open="));
        lines.filter(|line| line.contains("WARN")).count() == 2
    });
}
