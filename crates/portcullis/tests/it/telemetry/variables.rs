//! Unsupported variables, and what is lost when there is no receiver.

use super::{ask, exporting};
use crate::harness::{Folder, chain, eventually, free_port, program, until};

#[test]
fn a_variable_that_can_not_be_followed_is_named() {
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret"),
        ("OTEL_TRACES_SAMPLER", "sometimes"),
    ] {
        let folder = Folder::new();
        let log = std::fs::File::create(folder.path("err")).unwrap();
        let mut child = program(folder.root())
            .arg("serve")
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
            .env(name, value)
            .stderr(log)
            .spawn()
            .unwrap();
        let status = eventually("its end", || child.try_wait().unwrap());
        let text = std::fs::read_to_string(folder.path("err")).unwrap();
        assert_eq!(status.code(), Some(3), "{text}");
        assert!(text.contains(&format!("error: {name}: ")), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_dropped_and_counted() {
    let port = free_port();
    let variables = [
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            format!("http://127.0.0.1:{port}"),
        ),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "2".to_owned()),
        ("OTEL_BLRP_MAX_QUEUE_SIZE", "2".to_owned()),
    ];
    let mut gate = exporting(chain(&["AlwaysAdmit"]), &variables).start();
    let dropped = |signal| {
        let metrics = gate.metrics();
        metrics.total("portcullis_telemetry_dropped_total", &[("signal", signal)])
    };
    for signal in ["traces", "logs"] {
        until("something is dropped", || {
            ask(&gate, "/validate", &[]);
            dropped(signal) > 0.0
        });
    }
    gate.lives();
    gate.interrupt();
    assert!(gate.wait().success());
}
