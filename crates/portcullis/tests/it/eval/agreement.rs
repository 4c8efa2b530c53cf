//! `eval` and a running server give the same answer to the same question.

use serde_json::{Value, json};

use super::{device, eval, settings};
use crate::harness::{Gate, Review, pod, pod_with, privileged};

fn configuration() -> Value {
    let security = json!({"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline", "warn": "restricted"}});
    let selectors =
        json!({"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "zone=a"}});
    json!({
        "admission": {"plugins": [
            {"name": "AlwaysPullImages"},
            {"name": "DefaultTolerationSeconds"},
            {"name": "ExtendedResourceToleration"},
            {"name": "DenyServiceExternalIPs"},
            {"name": "LimitPodHardAntiAffinityTopology"},
            {"name": "PodNodeSelector", "configuration": selectors},
            {"name": "PodSecurity", "configuration": security},
        ]},
        "namespaces": [{"name": "system", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}],
    })
}

/// Objects that an API server would send as they are: nothing is left to defaults.
fn objects() -> Vec<Value> {
    let mut complete = device();
    let spec = &mut complete["spec"];
    spec["volumes"][0]["emptyDir"] = json!({});
    spec["containers"][0]["resources"]["requests"] = json!({"example.com/gpu": 1});
    let mut elsewhere = privileged();
    elsewhere["metadata"]["namespace"] = json!("system");
    let template = pod_with(&json!({"hostNetwork": true, "containers": []}));
    let service = |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": spec});
    let anti = json!([{"topologyKey": "zone", "labelSelector": {}}]);
    let affinity =
        json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": anti}});
    let mut plain = settings();
    plain["metadata"]["namespace"] = json!("default");
    vec![
        pod(),
        privileged(),
        complete,
        elsewhere,
        pod_with(&json!({"containers": "none"})),
        pod_with(&json!({"containers": [], "affinity": affinity})),
        pod_with(&json!({"containers": [], "nodeSelector": {"zone": "b"}})),
        service(json!({"externalIPs": ["203.0.113.1"]})),
        service(json!({"ports": [{"port": 80}]})),
        plain,
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "default"}, "spec": {"template": template}}),
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "system"}, "spec": {"template": template}}),
    ]
}

#[test]
fn every_answer_is_the_servers() {
    let gate = Gate::start(configuration());
    let text: Vec<String> = objects().iter().map(Value::to_string).collect();
    gate.folder.write("all.yaml", text.join("\n---\n"));
    let arguments = [
        "-f",
        "all.yaml",
        "--config",
        "portcullis.yaml",
        "--as",
        "alice",
    ];
    let done = eval(&gate.folder, &arguments);
    assert_eq!(done.results().len(), objects().len());
    let (mut denied, mut patched) = (0, 0);
    for (object, result) in objects().iter().zip(done.results()) {
        let review = Review::create(object);
        let answer = gate.ask("/mutate", &review);
        assert_eq!(result["allowed"], answer.is_allowed(), "{object}");
        assert_eq!(result["message"], answer.message(), "{object}");
        let patch = answer.patch().unwrap_or(json!([]));
        assert_eq!(result["patch"], patch, "{object}");
        assert_eq!(result["object"], answer.patched(object), "{object}");
        assert_eq!(
            result["policy"].as_str(),
            answer.annotation("plugin"),
            "{object}"
        );
        // The wire cuts warnings; the auditor gets them whole.
        let warnings: Vec<&str> = result["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| w.as_str().unwrap())
            .collect();
        assert_eq!(
            warnings.join("\n"),
            answer.annotation("warnings").unwrap_or_default(),
            "{object}"
        );
        denied += u32::from(!answer.is_allowed());
        patched += u32::from(answer.patch().is_some());
    }
    assert!(
        denied >= 4 && patched >= 2,
        "the table shows little: {denied}, {patched}"
    );
}

#[test]
fn updates_and_deletions_are_judged_as_the_server_does() {
    let gate = Gate::start(configuration());
    let folder = &gate.folder;
    let mut new = privileged();
    new["spec"]["containers"][0]["image"] = json!("registry.example/app:2");
    folder.write("old.yaml", pod().to_string());
    folder.write("new.yaml", new.to_string());
    let config = [
        "-f",
        "new.yaml",
        "--config",
        "portcullis.yaml",
        "--as",
        "alice",
    ];
    let update = ["--operation", "UPDATE", "--old", "old.yaml"];
    let done = eval(folder, &[&config[..], &update].concat());
    let review = Review::create(&new)
        .set("operation", "UPDATE")
        .set("oldObject", pod());
    let answer = gate.ask("/mutate", &review);
    assert_eq!(done.results()[0]["message"], answer.message());
    assert!(!answer.is_allowed());
    let done = eval(
        folder,
        &[&config[..], &["--operation", "DELETE", "--dry-run"]].concat(),
    );
    let review = Review::create(&new)
        .set("operation", "DELETE")
        .set("object", Value::Null);
    let answer = gate.ask(
        "/mutate",
        &review.set("oldObject", new.clone()).set("dryRun", true),
    );
    assert_eq!(done.results()[0]["allowed"], answer.is_allowed());
    assert_eq!(done.results()[0]["message"], answer.message());
}
