//! Every example, replayed against itself: the same verdict, and the same patch byte for byte.

use std::path::{Path, PathBuf};

use portcullis_record::{Decision, WebhookName};
use serde_json::{Value, json};

use super::record::{Came, TestGate, options};
use super::{create, pod, review};
use crate::offline::{Blueprint, case_text, read_cases};
use crate::replay::{Outcome, Replay};
use portcullis_config::ConfigSource;
use portcullis_document::Source;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    all.retain(|path| path.join("portcullis.yaml").exists());
    all.sort();
    all
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// The reviews that come with an example.
fn samples(example: &Path) -> Vec<(Value, Came)> {
    let Ok(entries) = std::fs::read_dir(example.join("reviews")) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|file| !file.to_str().unwrap().ends_with(".expected.json"));
    files.sort();
    let sample = |file: &PathBuf| {
        let expected = read(&file.with_extension("expected.json"));
        let sent = &expected["request"];
        let mut came = Came {
            webhook: WebhookName::Acjs,
            uri: sent["path"].as_str().unwrap_or("/").to_owned(),
            ..Came::default()
        };
        for (name, value) in sent["headers"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap().to_owned();
            came.headers.push((name.to_lowercase(), value));
        }
        (read(file), came)
    };
    files.iter().map(sample).collect()
}

/// Reviews that every example gets.
fn common() -> Vec<(Value, Came)> {
    let mut labelled = pod("labelled", "registry.example/app:1");
    labelled["metadata"]["labels"] = json!({"owner": "shop", "team": "x"});
    let mut privileged = pod("privileged", "app:latest");
    privileged["spec"]["containers"][0]["securityContext"] = json!({"privileged": true});
    let mut gpu = pod("gpu", "registry.example/app@sha256:0");
    gpu["spec"]["containers"][0]["resources"] = json!({"limits": {"example.com/gpu": 1}});
    gpu["spec"]["volumes"] =
        json!([{"name": "v", "gitRepo": {"repository": "https://x.example/r"}}]);
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "prod-x"},
        "spec": {"template": {"metadata": {}, "spec": pod("x", "app")["spec"]}}});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"password": "czNjcjN0"}});
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "kubelet"}});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"},
        "spec": {"externalIPs": ["1.2.3.4"]}});
    let validate = || Came {
        webhook: WebhookName::Validate,
        uri: "/validate?timeout=10s".to_owned(),
        ..Came::default()
    };
    let mut all: Vec<(Value, Came)> = [
        &labelled,
        &privileged,
        &gpu,
        &deployment,
        &secret,
        &event,
        &service,
    ]
    .into_iter()
    .flat_map(|object| {
        [
            (create(object), Came::default()),
            (create(object), validate()),
        ]
    })
    .collect();
    let update = review("UPDATE", &labelled, &pod("labelled", "old"));
    all.push((update, Came::default()));
    let delete = review("DELETE", &Value::Null, &deployment);
    all.push((delete, Came::default()));
    all
}

#[test]
fn every_example_decides_the_same_again() {
    let all = examples();
    assert!(all.len() >= 12, "{all:?}");
    let registry = crate::registry();
    let known = registry.names();
    let (mut refused, mut patched) = (0, 0);
    for example in all {
        let file = example.join("portcullis.yaml");
        let gate = TestGate::load(&file);
        let replay = Replay::load(&options(ConfigSource::File(&file), &known)).unwrap();
        let worker = replay.worker().unwrap();
        for (review, came) in samples(&example).into_iter().chain(common()) {
            let line = gate.line(&review, &came);
            let decision = Decision::from_line(&line).unwrap();
            let outcome = worker.decide(&decision);
            // No policy of an example reads what is masked.
            assert_eq!(
                outcome,
                Outcome::Same { by_another: false },
                "{}: {review}\n{line}",
                example.display()
            );
            refused += u32::from(decision.summary.plugin.is_some());
            patched += u32::from(!decision.patch.is_empty());
        }
    }
    assert!(refused > 20 && patched > 20, "{refused} {patched}");
}

/// Every decision that can be written as a test passes with the policies that made it.
#[test]
fn every_example_passes_the_tests_made_of_its_decisions() {
    let registry = crate::registry();
    let known = registry.names();
    let (mut passed, mut denied, mut patched) = (0, 0, 0);
    let mut examples = examples();
    // Their policies look at the connection, which a test has none of.
    examples.retain(|example| !example.display().to_string().contains("acjs-"));
    for example in examples {
        let file = example.join("portcullis.yaml");
        let gate = TestGate::load(&file);
        let blueprint = Blueprint::load(&options(ConfigSource::File(&file), &known)).unwrap();
        for (review, came) in common() {
            let decision = Decision::from_line(&gate.line(&review, &came)).unwrap();
            // What the webhook makes of an answer is not tested.
            if came.webhook != WebhookName::Mutate {
                continue;
            }
            let text = match case_text(&decision) {
                Err(why) if why.to_string().contains("another namespace") => continue,
                text => text.unwrap(),
            };
            let source = Source::text_named("a.test.yaml", text.as_str());
            let cases = read_cases(&source).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
            let [case] = cases.as_slice() else {
                panic!("{text}");
            };
            let answer = blueprint
                .answer(&case.request, &blueprint.memory())
                .unwrap();
            let mismatches = case.expect.compare(&case.request, &answer);
            let example = example.display();
            assert!(mismatches.is_empty(), "{example}: {mismatches:#?}\n{text}");
            passed += 1;
            denied += u32::from(!answer.allowed);
            patched += u32::from(text.contains("patch:\n"));
        }
    }
    assert!(
        passed > 50 && denied > 10 && patched > 3,
        "{passed} {denied} {patched}"
    );
}

#[test]
fn a_test_names_what_is_masked_and_what_it_cannot_ask() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies");
    let gate = TestGate::load(&folder.join("portcullis.yaml"));
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"password": "czNjcjN0"}});
    let decision = Decision::from_line(&gate.line(&create(&secret), &Came::default())).unwrap();
    let text = case_text(&decision).unwrap();
    assert!(
        text.contains("# Masked, not the value that was sent: /request/object/data/password"),
        "{text}"
    );
    assert!(!text.contains("czNjcjN0"), "{text}");
    let mut scale = create(&pod("web", "web:1"));
    scale["request"]["subResource"] = "scale".into();
    let decision = Decision::from_line(&gate.line(&scale, &Came::default())).unwrap();
    let why = case_text(&decision).unwrap_err().to_string();
    assert!(why.contains("`scale`"), "{why}");
}

#[test]
fn a_test_of_a_connection_asks_about_what_was_connected_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies");
    let gate = TestGate::load(&folder.join("portcullis.yaml"));
    let options =
        json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"], "stdin": true});
    let mut exec = create(&options);
    let request = &mut exec["request"];
    request["operation"] = "CONNECT".into();
    request["kind"] = json!({"group": "", "version": "v1", "kind": "PodExecOptions"});
    request["resource"] = json!({"group": "", "version": "v1", "resource": "pods"});
    request["subResource"] = "exec".into();
    request["name"] = "web-7".into();
    let decision = Decision::from_line(&gate.line(&exec, &Came::default())).unwrap();
    let text = case_text(&decision).unwrap();
    let source = Source::text_named("a.test.yaml", text.as_str());
    let cases = read_cases(&source).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let object = cases[0].request.object.as_ref().unwrap();
    assert_eq!(object["metadata"]["name"], "web-7", "{text}");
    // A name that the object does not have can't be asked about.
    let mut other = create(&pod("web", "web:1"));
    other["request"]["name"] = "another".into();
    let decision = Decision::from_line(&gate.line(&other, &Came::default())).unwrap();
    let why = case_text(&decision).unwrap_err().to_string();
    assert!(why.contains("`another`"), "{why}");
}
