//! How it is delivered: over TLS and gRPC, late, and at the last moment.

use super::collector::{Collector, Plan};
use super::{CALLER, PARENT, ask, exporting, policies};
use crate::harness::{Pki, Setup, chain, until};

/// A gate asked once, whose decision arrives.
#[track_caller]
fn arrives(collector: &Collector, setup: Setup) {
    let gate = setup.start();
    // Twice, so that a connection is used again.
    for _ in 0..2 {
        let id = ask(&gate, "/validate", &[("traceparent", CALLER)]);
        assert_eq!(collector.span_of(&id).item["parentSpanId"], PARENT);
        assert_eq!(collector.log_of(&id).item["severityText"], "INFO");
    }
    for signal in ["traces", "logs"] {
        let lost = gate.metrics();
        let lost = lost.total("portcullis_telemetry_dropped_total", &[("signal", signal)]);
        assert!(lost.abs() < 0.5, "{lost} {signal}");
    }
}

#[test]
fn over_grpc() {
    let Some(collector) = Collector::start() else {
        return;
    };
    let endpoint = format!("http://127.0.0.1:{}", collector.plan.grpc);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc".to_owned()),
    ];
    arrives(&collector, exporting(chain(&["AlwaysAdmit"]), &variables));
}

#[test]
fn over_tls() {
    let (pki, Some(plan)) = (Pki::new(), Plan::new()) else {
        return;
    };
    let collector = plan.start(Some(&pki));
    for (protocol, port) in [
        ("http/protobuf", collector.plan.http),
        ("grpc", collector.plan.grpc),
    ] {
        let variables = [
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                format!("https://localhost:{port}"),
            ),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.to_owned()),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.crt".to_owned()),
        ];
        let setup = exporting(chain(&["AlwaysAdmit"]), &variables);
        arrives(
            &collector,
            setup.file("ca.crt", &pki.authority.certificate_pem),
        );
    }
}

#[test]
fn nothing_goes_to_a_receiver_nobody_vouches_for() {
    let (pki, Some(plan)) = (Pki::new(), Plan::new()) else {
        return;
    };
    let collector = plan.start(Some(&pki));
    let url = format!("https://127.0.0.1:{}", collector.plan.http);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.crt".to_owned()),
    ];
    let setup = exporting(chain(&["AlwaysAdmit"]), &variables);
    let setup = setup.file("ca.crt", &Pki::new().authority.certificate_pem);
    let gate = setup.start();
    ask(&gate, "/validate", &[]);
    until("it is said", || gate.log().contains("TLS failed"));
    assert_eq!(collector.text(), "");
}

/// What happened while the collector was away arrives when it is back, and the log stays quiet.
#[test]
fn a_collector_that_comes_late_and_goes() {
    let Some(plan) = Plan::new() else {
        return;
    };
    let port = plan.http;
    let variables = [(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        format!("http://127.0.0.1:{port}"),
    )];
    let gate = exporting(policies(&[("P", "deny('no')")]), &variables).start();
    let early: Vec<_> = (0..50).map(|_| ask(&gate, "/validate", &[])).collect();
    until("the failure is said", || {
        gate.log().contains("telemetry export failed")
    });
    let collector = plan.start(None);
    for id in &early {
        collector.span_of(id);
        collector.log_of(id);
    }
    until("and the end of it", || {
        gate.log().contains("telemetry export recovered")
    });
    // Once for each signal, whatever the number of attempts.
    let complaints = gate.log().matches("telemetry export failed").count();
    assert!(complaints <= 2, "{}", gate.log());

    drop(collector);
    ask(&gate, "/validate", &[]);
    let late = ask(&gate, "/validate", &[]);
    let collector = Plan::at(port).unwrap().start(None);
    collector.span_of(&late);
    collector.log_of(&late);
}

#[test]
fn what_waits_is_sent_at_the_end() {
    let Some(collector) = Collector::start() else {
        return;
    };
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()),
        ("OTEL_BSP_SCHEDULE_DELAY", "3600000".to_owned()),
        ("OTEL_BLRP_SCHEDULE_DELAY", "3600000".to_owned()),
    ];
    let mut gate = exporting(chain(&["AlwaysAdmit"]), &variables).start();
    let id = ask(&gate, "/validate", &[]);
    assert_eq!(collector.text(), "");
    gate.interrupt();
    assert!(gate.wait().success());
    collector.span_of(&id);
    collector.log_of(&id);
}
