//! `AdmissionReview`, v1 and v1beta1.

use serde_json::{Value, json};

use crate::tests::harness::{Gate, Review, container, pod, pod_security, pod_with, privileged};

const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

fn warned(names: impl Iterator<Item = String>) -> Value {
    pod_with(&json!({"containers": names.map(|name| container(&name)).collect::<Vec<_>>()}))
}

#[test]
fn version_and_uid_are_echoed_whatever_the_verdict() {
    let (open, shut) = (Gate::of(&["AlwaysPullImages"]), Gate::of(&["AlwaysDeny"]));
    let long = "x".repeat(1000);
    for version in VERSIONS {
        for uid in [
            "705ab4f5-6393",
            "quo\"te\\slash",
            "ünï✓",
            " ",
            "\u{1}\n",
            long.as_str(),
        ] {
            // Every answer is checked for version and uid.
            let review = Review::create(&pod()).version(version).set("uid", uid);
            open.ask("/validate", &review).allowed();
            assert!(open.ask("/mutate", &review).patch().is_some());
            shut.ask("/validate", &review).denied("");
        }
    }
}

#[test]
fn a_refusal_says_code_reason_message_and_details() {
    let gate = Gate::start(pod_security(&json!({"enforce": "baseline"})));
    for version in VERSIONS {
        let verdict = gate.ask("/validate", &Review::create(&privileged()).version(version));
        verdict.denied("PodSecurity");
        let status = &verdict.0["status"];
        assert_eq!(status["status"], "Failure");
        assert_eq!(status["code"], 403);
        assert_eq!(status["reason"], "Forbidden");
        assert_eq!(status["details"]["name"], "web");
        assert_eq!(status["details"]["kind"], "pods");
    }
}

#[test]
fn an_allowed_object_that_needs_no_change_gets_neither_patch_nor_status() {
    let gate = Gate::of(&["AlwaysPullImages"]);
    let mut right = pod();
    right["spec"]["containers"][0]["imagePullPolicy"] = json!("Always");
    let verdict = gate.mutate(&right);
    verdict.allowed();
    for key in ["patch", "patchType", "status", "warnings"] {
        assert_eq!(verdict.0.get(key), None, "{key}");
    }
}

#[test]
fn a_patch_touches_only_what_it_must() {
    let containers: Vec<Value> = (0..12)
        .map(|i| {
            let mut one = container(&format!("c{i}"));
            one["imagePullPolicy"] = json!(["Always", "Never", "IfNotPresent"][i % 3]);
            one
        })
        .collect();
    let mut odd = pod_with(&json!({
        "containers": containers,
        "terminationGracePeriodSeconds": 9_007_199_254_740_993_i64,
    }));
    odd["metadata"]["generation"] = json!(u64::MAX);
    odd["metadata"]["annotations"] =
        json!({"a/b": "1", "a~b": "2", "~1": "3", "": "4", "ünï": "✓", "q\"": "\u{0}\n"});
    let verdict = Gate::of(&["AlwaysPullImages"]).mutate(&odd);
    let mut expected = odd.clone();
    for one in expected["spec"]["containers"].as_array_mut().unwrap() {
        one["imagePullPolicy"] = json!("Always");
    }
    assert_eq!(verdict.patched(&odd), expected);
    let patch = verdict.patch().unwrap();
    let mut paths: Vec<&str> = patch
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["path"].as_str().unwrap())
        .collect();
    paths.sort_unstable();
    let mut wanted: Vec<String> = (0..12)
        .filter(|i| i % 3 != 0)
        .map(|i| format!("/spec/containers/{i}/imagePullPolicy"))
        .collect();
    wanted.sort_unstable();
    assert_eq!(paths, wanted);
}

#[test]
fn warnings_are_cut_and_the_auditor_gets_the_whole() {
    let gate = Gate::start(pod_security(
        &json!({"enforce": "privileged", "warn": "restricted"}),
    ));
    for name in ["a-rather-long-name-", "größe-✓-容器-"] {
        for version in VERSIONS {
            let object = warned((0..30).map(|i| format!("{name}{i}")));
            let verdict = gate.ask("/validate", &Review::create(&object).version(version));
            verdict.allowed();
            let warnings = verdict.warnings();
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert_eq!(warnings[0].chars().count(), 120, "{warnings:?}");
            assert!(!warnings[0].contains(['\n', '\u{fffd}']), "{warnings:?}");
            let whole = verdict.annotation("warnings").unwrap();
            assert!(whole.contains(&format!("{name}29")), "{whole}");
        }
    }
}

#[test]
fn audit_annotations_have_keys_that_an_api_server_keeps() {
    let baseline = pod_security(&json!({"enforce": "baseline", "audit": "restricted"}));
    for (gate, object, who) in [
        (
            Gate::start(baseline.clone()),
            privileged(),
            Some("PodSecurity"),
        ),
        (Gate::start(baseline), pod(), None),
        (
            Gate::of(&["AlwaysAdmit", "AlwaysDeny"]),
            pod(),
            Some("AlwaysDeny"),
        ),
        (Gate::of(&["AlwaysAdmit"]), pod(), None),
    ] {
        let verdict = gate.validate(&object);
        assert_eq!(verdict.annotation("plugin"), who);
        let id = verdict.annotation("decision-id").unwrap();
        assert!(
            id.len() == 26
                && id
                    .chars()
                    .all(|c| c.is_ascii_digit() || c.is_ascii_uppercase()),
            "{id}"
        );
        assert_ne!(
            Some(id),
            gate.validate(&object).annotation("decision-id"),
            "an id again"
        );
        for (key, value) in verdict.0["auditAnnotations"].as_object().unwrap() {
            let is_kept = key.len() <= 63
                && key
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
            assert!(is_kept && value.is_string(), "{key}: {value}");
        }
    }
}

#[test]
fn pod_security_notes_what_it_found_for_the_auditor() {
    let gate = Gate::start(pod_security(
        &json!({"enforce": "baseline", "audit": "restricted"}),
    ));
    let verdict = gate.validate(&pod());
    verdict.allowed();
    assert_eq!(
        verdict.annotation("enforce-policy"),
        Some("baseline:latest")
    );
    assert!(
        verdict
            .annotation("audit-violations")
            .is_some_and(|v| v.contains("restricted"))
    );
}

#[test]
fn a_dry_run_is_judged_like_the_real_thing() {
    let options =
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions", "dryRun": ["All"]});
    let dry = |object: &Value| {
        Review::create(object)
            .set("dryRun", true)
            .set("options", options.clone())
    };
    let gate = Gate::start(pod_security(&json!({"enforce": "baseline"})));
    gate.ask("/validate", &dry(&privileged()))
        .denied("privileged");
    gate.ask("/validate", &dry(&pod())).allowed();
    assert!(
        Gate::of(&["AlwaysPullImages"])
            .ask("/mutate", &dry(&pod()))
            .patch()
            .is_some()
    );
}

#[test]
fn a_dry_run_takes_nothing_from_a_rate() {
    let limits = json!({
        "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1",
        "kind": "Configuration",
        "limits": [{"type": "Server", "qps": 1, "burst": 2}],
    });
    let plugin = json!({"name": "EventRateLimit", "configuration": limits});
    let gate = Gate::start(json!({"admission": {"plugins": [plugin]}}));
    let event =
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "a"}});
    for _ in 0..20 {
        gate.ask("/validate", &Review::create(&event).set("dryRun", true))
            .allowed();
    }
    // Two are let through at once; a slow machine may let one more a second.
    let refused = (0..20)
        .filter(|_| !gate.validate(&event).is_allowed())
        .count();
    assert!((1..=18).contains(&refused), "{refused} of 20 were refused");
}

#[test]
fn unknown_fields_are_ignored_and_optional_ones_may_be_missing() {
    let gate = Gate::start(pod_security(&json!({"enforce": "baseline"})));
    let mut review = Review::create(&privileged()).set("futureField", json!({"a": [1]}));
    let user = json!({"username": "alice", "extra": {"k": ["v"]}, "future": 1});
    review = review.set("userInfo", user);
    gate.ask("/validate", &review).denied("privileged");
    for field in [
        "oldObject",
        "options",
        "dryRun",
        "requestKind",
        "requestResource",
        "name",
        "userInfo",
    ] {
        review = review.without(field);
        gate.ask("/validate", &review).denied("privileged");
    }
    let mut outside = review.value();
    outside["future"] = json!({"response": {"allowed": true}});
    let answer = gate.post("/validate", &outside);
    assert_eq!(answer.json()["response"]["allowed"], false);
}

#[test]
fn a_pod_of_the_wrong_shape_is_refused_with_the_path_of_the_fault() {
    let gate = Gate::start(pod_security(&json!({"enforce": "baseline"})));
    for (path, spec, fault) in [
        ("/validate", json!("x"), "spec"),
        (
            "/validate",
            json!({"containers": "none"}),
            "spec.containers",
        ),
        (
            "/validate",
            json!({"containers": [container("a"), 7]}),
            "spec.containers[1]",
        ),
        (
            "/mutate",
            json!({"containers": [{"name": "a", "securityContext": "root"}]}),
            "spec.containers[0].securityContext",
        ),
        (
            "/validate",
            json!({"containers": [container("a")], "initContainers": [{"name": "b", "securityContext": {"privileged": "yes"}}]}),
            "spec.initContainers[0].securityContext.privileged",
        ),
        (
            "/validate",
            json!({"containers": [container("a")], "hostNetwork": 1}),
            "spec.hostNetwork",
        ),
    ] {
        let verdict = gate.ask(path, &Review::create(&pod_with(&spec)));
        verdict.denied(fault);
    }
}
