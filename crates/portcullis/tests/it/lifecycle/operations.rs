//! Health and metrics.

use serde_json::json;

use crate::harness::{Connection, Gate, Review, access, pod, pod_security, privileged, until};

#[test]
fn health_answers_short_and_at_length() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    for path in ["/livez", "/readyz", "/readyz?exclude=listeners"] {
        let answer = gate.get(path);
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, "ok"),
            "{path}"
        );
    }
    let verbose = gate.get("/readyz?verbose");
    assert_eq!(verbose.status, 200);
    let text = verbose.text();
    for line in [
        "[+]ping ok",
        "[+]configuration ok",
        "[+]listeners ok",
        "[+]shutdown ok",
        "readyz check passed",
    ] {
        assert!(text.lines().any(|l| l == line), "no `{line}`: {text}");
    }
    let excluding = gate
        .get("/readyz?verbose&exclude=listeners&exclude=nonsense")
        .text();
    assert!(
        excluding.contains("[+]listeners excluded: ok"),
        "{excluding}"
    );
    let mut connection = Connection::tcp(gate.port).unwrap();
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(
            connection.ask("HEAD", path, b"").unwrap().status,
            200,
            "{path}"
        );
    }
}

#[test]
fn metrics_count_reviews_by_verdict() {
    let mut config = pod_security(&json!({"enforce": "baseline"}));
    config["admission"]["plugins"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "AlwaysPullImages"}));
    config["authorization"] = json!({"chains": {"default": ["AlwaysDeny"]}});
    let gate = Gate::start(config);
    let mut pulls = pod();
    pulls["spec"]["containers"][0]["imagePullPolicy"] = json!("Always");
    for _ in 0..3 {
        gate.validate(&pulls).allowed();
        gate.mutate(&pod()).allowed();
        gate.validate(&privileged()).denied("");
        gate.access("/authorize", &access("v1", "alice", &[], &json!({})));
    }
    gate.post_bytes("/validate", b"{").error(400);
    let answer = gate.get("/metrics");
    let kind = answer.header("content-type").unwrap();
    assert!(
        kind.starts_with("application/openmetrics-text") || kind.starts_with("text/plain"),
        "{kind}"
    );
    let metrics = gate.metrics();
    let reviews =
        |labels: &[(&str, &str)]| metrics.total("portcullis_admission_reviews_total", labels);
    for (labels, expected) in [
        (&[][..], 9.0),
        (&[("verdict", "deny")], 3.0),
        (&[("verdict", "allow"), ("webhook", "validate")], 3.0),
        (
            &[
                ("verdict", "mutate"),
                ("webhook", "mutate"),
                ("operation", "CREATE"),
                ("resource", "pods"),
            ],
            3.0,
        ),
    ] {
        assert!(
            (reviews(labels) - expected).abs() < 0.5,
            "{labels:?}: {}",
            reviews(labels)
        );
    }
    for (name, labels, expected) in [
        (
            "portcullis_admission_review_duration_seconds_count",
            &[][..],
            9.0,
        ),
        (
            "portcullis_rejected_total",
            &[("plugin", "PodSecurity")],
            3.0,
        ),
        (
            "portcullis_authorization_decisions_total",
            &[("authorizer", "AlwaysDeny")],
            3.0,
        ),
        (
            "portcullis_http_errors_total",
            &[("code", "malformed")],
            1.0,
        ),
        (
            "portcullis_build_info",
            &[("version", env!("CARGO_PKG_VERSION"))],
            1.0,
        ),
        ("portcullis_config_last_reload_successful", &[], 1.0),
    ] {
        let found = metrics.total(name, labels);
        assert!((found - expected).abs() < 0.5, "{name}: {found}");
    }
    assert!(
        metrics.total(
            "portcullis_config_last_reload_success_timestamp_seconds",
            &[]
        ) > 1.7e9
    );
    for family in metrics.of_type("counter") {
        assert!(!metrics.has(family), "a counter without _total: {family}");
    }
    let mut seen = 0;
    for family in metrics.of_type("histogram") {
        for (buckets, count) in metrics.histograms(family) {
            assert!(buckets.is_sorted(), "{family}: {buckets:?}");
            assert!(
                buckets.iter().map(|(_, value)| value).is_sorted(),
                "{family}: {buckets:?}"
            );
            let (bound, all) = buckets.last().unwrap();
            assert!(
                bound.is_infinite() && (all - count).abs() < 0.5,
                "{family}: {buckets:?}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 2, "there are hardly any histograms");
}

#[test]
fn metrics_hold_no_names() {
    let gate = Gate::start(pod_security(&json!({"enforce": "baseline"})));
    let mut planted = privileged();
    planted["metadata"] = json!({"name": "planted-name", "namespace": "planted-namespace"});
    let review = Review::create(&planted).set("userInfo", json!({"username": "planted-user"}));
    gate.ask("/validate", &review.set("uid", "planted-uid"))
        .denied("");
    let metrics = gate.metrics();
    assert!(
        !metrics
            .label_values()
            .any(|value| value.contains("planted")),
        "{}",
        gate.get("/metrics").text()
    );
}

#[test]
fn labels_that_callers_choose_are_bounded_and_escaped() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let mut connection = Connection::tcp(gate.port).unwrap();
    for i in 0..600 {
        let resource = json!({"group": "", "version": "v1", "resource": format!("odd\"\\\n{i}")});
        let review = Review::create(&pod()).set("resource", resource);
        assert_eq!(
            connection
                .post("/validate", &review.value())
                .unwrap()
                .status,
            200
        );
    }
    let metrics = gate.metrics();
    let odd = metrics
        .label_values()
        .filter(|value| value.contains("odd"))
        .count();
    assert!(odd <= 500, "{odd} labels for what callers chose");
    assert!((metrics.total("portcullis_admission_reviews_total", &[]) - 600.0).abs() < 0.5);
}

#[test]
fn open_connections_are_counted_and_uncounted() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let open = || {
        gate.metrics()
            .total("portcullis_connections", &[("listener", "all")])
    };
    let held: Vec<Connection> = (0..10)
        .map(|_| Connection::tcp(gate.port).unwrap())
        .collect();
    until("all are counted", || open() >= 11.0);
    drop(held);
    until("only the asking one is left", || open() < 2.0);
}

#[test]
fn a_refused_request_has_no_metric_of_a_review() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    gate.post("/validate", &json!({})).error(400);
    assert!(
        gate.metrics()
            .total("portcullis_admission_reviews_total", &[])
            .abs()
            < 0.5
    );
}
