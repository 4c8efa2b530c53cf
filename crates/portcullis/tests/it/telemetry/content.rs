//! What arrives: names, times, attributes, and no secrets.

use serde_json::{Value, json};

use super::collector::{Collector, Item};
use super::{CALLER, PARENT, TRACE, ask, ask_about, exporting, policies, post};
use crate::harness::{Controller, access, eventually, pod, privileged, until, yes};

fn now() -> u128 {
    let now = portcullis_core::clock::wall();
    now.duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos()
}

/// Asserts that a span lies inside another.
#[track_caller]
fn is_within(inner: &Item, outer: &Item) {
    let ((a, b), (start, end)) = (inner.times(), outer.times());
    assert!(start <= a && a <= b && b <= end, "{inner:?} {outer:?}");
}

#[test]
fn a_review_with_its_policies_and_their_calls() {
    let Some(collector) = Collector::start() else {
        return;
    };
    let other = Controller::http(yes);
    let forward = format!("return forwardToAdmissionController({:?})", other.url);
    let mut config = policies(&[
        ("first", "warn('x')"),
        ("forward", &forward),
        ("absent", ""),
    ]);
    config["policies"][1]["mode"] = "warn".into();
    config["policies"][2]["match"] = json!({"kinds": ["Secret"]});
    config["hostCalls"] = json!({"forwardTo": [other.url]});
    config["admission"] = json!({"order": ["AlwaysAdmit", "Policies"]});
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test".to_owned(),
        ),
        ("OTEL_SERVICE_NAME", "gate".to_owned()),
    ];
    let gate = exporting(config, &variables).start();
    let before = now();
    let id = ask(
        &gate,
        "/mutate/some?timeout=9s",
        &[("traceparent", CALLER), ("tracestate", "a=1")],
    );
    let root = collector.span_of(&id);
    until("all spans", || collector.children(&root).len() == 4);
    let after = now();
    assert_eq!(root.name(), "admission.review");
    assert_eq!(root.item["traceId"], TRACE);
    assert_eq!(root.item["parentSpanId"], PARENT);
    assert_eq!(root.item["traceState"], "a=1");
    assert_eq!(root.item["kind"], 2);
    assert_eq!(root.item["status"], json!({}));
    assert_eq!(root.resource("service.name"), "gate");
    assert_eq!(root.resource("deployment.environment.name"), "test");
    for (key, value) in [
        ("portcullis.door", json!("kubernetes")),
        ("portcullis.verdict", json!("allow")),
        ("portcullis.mutated", json!(false)),
        ("portcullis.operation", json!("CREATE")),
        ("portcullis.kind", json!("Pod")),
        ("k8s.namespace.name", json!("default")),
        ("http.request.method", json!("POST")),
        ("url.path", json!("/mutate/some")),
        ("http.response.status_code", json!("200")),
        ("portcullis.plugin", Value::Null),
        ("portcullis.policy", Value::Null),
    ] {
        assert_eq!(root.attribute(key), value, "{key}");
    }
    let (start, end) = root.times();
    assert!(before <= start && start < end && end <= after);

    let children = collector.children(&root);
    let policy = |name: &str| {
        let found = children
            .iter()
            .find(|c| c.attribute("portcullis.policy") == name);
        found.cloned().unwrap()
    };
    for child in &children {
        is_within(child, &root);
    }
    let plugin = children.iter().find(|c| c.name() == "plugin.evaluate");
    let plugin = plugin.unwrap();
    assert_eq!(plugin.attribute("portcullis.plugin"), "AlwaysAdmit");
    assert_eq!(plugin.attribute("portcullis.phase"), "admit");
    let (first, forward) = (policy("first"), policy("forward"));
    assert_eq!(first.name(), "policy.evaluate");
    assert_eq!(first.attribute("portcullis.outcome"), "warn");
    assert_eq!(first.attribute("portcullis.plugin"), "Policies");
    assert_eq!(forward.attribute("portcullis.policy.mode"), "warn");
    // One after the other.
    assert!(plugin.times().1 <= first.times().0 && first.times().1 <= forward.times().0);
    let calls = eventually("the call", || {
        Some(collector.children(&forward)).filter(|calls| !calls.is_empty())
    });
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].name(), "host.call");
    assert_eq!(calls[0].item["kind"], 3);
    let function = calls[0].attribute("portcullis.function");
    assert_eq!(function, "forwardToAdmissionController");
    is_within(&calls[0], &forward);

    let log = collector.log_of(&id);
    assert_eq!(log.item["severityText"], "INFO");
    assert_eq!(log.item["traceId"], TRACE);
    assert_eq!(log.item["spanId"], root.item["spanId"]);
    assert_eq!(log.item["eventName"], "portcullis.decision");
    assert_eq!(log.attribute("portcullis.kind"), "Pod");
}

#[test]
fn refusals_failures_and_access() {
    let Some(collector) = Collector::start() else {
        return;
    };
    let refuses = "if (object.metadata.labels?.bad) deny('no', 'Why', 418); \
                   if (object.metadata.labels?.worse) throw new Error('oh')";
    let mut config = policies(&[("P", refuses)]);
    config["authorization"] = json!({
        "authorizers": [{"name": "always", "driver": "AlwaysDeny"}],
        "chains": {"default": ["always"]},
    });
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())];
    let gate = exporting(config, &variables).start();
    let labelled = |label: &str| {
        let mut pod = pod();
        pod["metadata"]["labels"] = json!({label: "1"});
        ask_about(&gate, "/validate", &[], &pod)
    };
    let (refused, failed) = (labelled("bad"), labelled("worse"));

    let span = collector.span_of(&refused);
    assert_eq!(
        span.item
            .get("parentSpanId")
            .and_then(Value::as_str)
            .unwrap_or(""),
        ""
    );
    assert_eq!(span.attribute("portcullis.verdict"), "deny");
    assert_eq!(span.attribute("portcullis.plugin"), "Policies");
    assert_eq!(span.attribute("portcullis.policy"), "P");
    assert_eq!(span.item["status"], json!({}));
    let log = collector.log_of(&refused);
    assert_eq!(log.item["severityText"], "WARN");
    assert_eq!(log.item["traceId"], span.item["traceId"]);

    let span = collector.span_of(&failed);
    assert_eq!(span.attribute("portcullis.verdict"), "error");
    assert_eq!(span.attribute("error.type"), "error");
    assert_eq!(span.item["status"]["code"], 2);
    let children = eventually("its child", || {
        Some(collector.children(&span)).filter(|c| !c.is_empty())
    });
    assert_eq!(children[0].item["status"]["code"], 2);
    assert_eq!(collector.log_of(&failed).item["severityText"], "ERROR");

    let review = access(
        "v1",
        "alice",
        &[],
        &json!({"group": "apps", "resource": "deployments"}),
    );
    post(&gate, "/authorize", &[("traceparent", CALLER)], &review);
    let span = eventually("the span of the access review", || {
        let mut spans = collector.spans().into_iter();
        spans.find(|span| span.name() == "authz.check")
    });
    assert_eq!(span.item["parentSpanId"], PARENT);
    assert_eq!(span.attribute("portcullis.door"), "authorization");
    assert_eq!(span.attribute("portcullis.verdict"), "deny");
    assert_eq!(span.attribute("portcullis.operation"), "get");
    assert_eq!(span.attribute("portcullis.kind"), "apps/deployments");
    assert_eq!(span.attribute("k8s.namespace.name"), "dev");
    let children = eventually("its child", || {
        Some(collector.children(&span)).filter(|c| !c.is_empty())
    });
    assert_eq!(children[0].name(), "authorizer.evaluate");
    assert_eq!(children[0].attribute("portcullis.plugin"), "always");
    is_within(&children[0], &span);
}

/// The server's own events arrive, whatever standard error shows.
#[test]
fn events_of_the_server() {
    let Some(collector) = Collector::start() else {
        return;
    };
    let mut config = policies(&[("P", "console.log('said by a policy')")]);
    config["log"] = json!({"filter": "error"});
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())];
    let gate = exporting(config, &variables).start();
    let id = ask(&gate, "/validate", &[]);
    collector.log_of(&id);
    gate.hang_up();
    let body = |text: &str| {
        let has = |log: &Item| log.item["body"]["stringValue"] == text;
        eventually(text, || collector.logs().into_iter().find(has))
    };
    let event = body("configuration reloaded");
    assert_eq!(event.item["severityText"], "INFO");
    assert_eq!(event.attribute("log.target"), "portcullis_server::reload");
    body("policies in force");
    assert!(!collector.text().contains("said by a policy"));
    assert_eq!(gate.log(), "");
}

/// Whatever is exported, nothing of what people put into objects, messages and headers is.
#[test]
fn secrets_stay_here() {
    let Some(collector) = Collector::start() else {
        return;
    };
    const SECRET: &str = "hunter2-planted";
    let leaky = format!(
        "console.error('{SECRET}'); warn('{SECRET}'); \
         if (object.metadata.labels?.bad) deny('{SECRET}', '{SECRET}'); \
         if (object.metadata.labels?.worse) throw new Error('{SECRET}')"
    );
    let mut config = policies(&[("P", &leaky)]);
    config["admission"] = json!({"order": ["Policies", "PodSecurity"], "plugins": [{
        "name": "PodSecurity",
        "configuration": {
            "apiVersion": "pod-security.admission.config.k8s.io/v1",
            "kind": "PodSecurityConfiguration",
            "defaults": {"enforce": "baseline"},
        },
    }]});
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            format!("authorization=Bearer%20{SECRET}"),
        ),
    ];
    let gate = exporting(config, &variables).start();
    let headers = [
        ("authorization", format!("Bearer {SECRET}")),
        ("cookie", SECRET.to_owned()),
        ("traceparent", format!("{CALLER}-{SECRET}")),
        ("tracestate", SECRET.to_owned()),
    ];
    let headers = headers
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let mut ids = Vec::new();
    for label in ["good", "bad", "worse"] {
        let mut pod = privileged();
        pod["metadata"]["labels"] = json!({label: "1"});
        pod["metadata"]["name"] = SECRET.into();
        pod["metadata"]["annotations"] = json!({"token": SECRET});
        pod["spec"]["containers"][0]["name"] = SECRET.into();
        pod["spec"]["containers"][0]["env"] = json!([{"name": "PASSWORD", "value": SECRET}]);
        let path = format!("/validate?token={SECRET}");
        ids.push(ask_about(&gate, &path, &headers, &pod));
    }
    for id in &ids {
        collector.span_of(id);
        collector.log_of(id);
    }
    let text = collector.text();
    assert!(!text.contains(SECRET), "{text}");
    assert!(!gate.log().contains(&format!("Bearer {SECRET}")));
}
