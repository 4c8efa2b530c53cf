//! What `portcullis generate` prints is taken by a real API server, which then calls Portcullis; `portcullis doctor` sees
//! what is wrong with it.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use portcullis_e2e::{Cluster, Portcullis, until};
use serde_json::Value;

use crate::manifests::{privileged_pod, restricted_pod};
use crate::suite::{Space, in_namespace};

const CONFIGURATION: &str = "admission: {plugins: [{name: PodSecurity, configuration: {apiVersion: \
                             pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: \
                             {enforce: baseline}}}]}\n";

/// Runs the program beside the configuration of a gate.
fn program(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(Portcullis::program().unwrap())
        .current_dir(directory)
        .env_clear()
        .env("HOME", directory)
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
fn text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The directory of a gate, with the certificate of its CA.
fn directory(space: &Space, name: &str) -> std::path::PathBuf {
    let directory = space.suite.directory.join(space.name).join(name);
    std::fs::write(
        directory.join("ca.crt"),
        space.suite.authority.certificate(),
    )
    .unwrap();
    directory
}

#[test]
fn generated_webhooks_are_applied_and_called() {
    in_namespace("generated", |space| {
        let mut gate = space.portcullis("gate", CONFIGURATION);
        let directory = directory(space, "gate");
        let url = gate.url("");
        let base = ["generate", "webhooks", "--url", &url, "--ca", "ca.crt"];
        for name in ["PodSecurity", "AlwaysPullImages", "AlwaysDeny"] {
            // Rules for some resources, for both phases, and for everything.
            let file = format!("{name}.yaml");
            std::fs::write(
                directory.join(&file),
                format!("admission: {{order: [{name}]}}\n"),
            )
            .unwrap();
            let made = text(&program(&directory, &[&base[..], &["-c", &file]].concat()));
            let dry = ["apply", "--server-side", "--dry-run=server", "-f", "-"];
            space.kubectl.run_with_input(&dry, &made).succeeds();
        }
        let only = ["-n", space.name, "--name", "portcullis-generated"];
        let made = text(&program(&directory, &[&base[..], &only].concat()));
        space
            .kubectl
            .run_with_input(&["apply", "--server-side", "-f", "-"], &made)
            .succeeds();
        let denied = "validate.portcullis.dev\" denied the request";
        until(
            "the generated webhook to be called",
            Duration::from_secs(10),
            || {
                space
                    .kubectl
                    .dry_run(&privileged_pod("bad"))
                    .stderr
                    .contains(denied)
            },
        );
        space.kubectl.create(&restricted_pod("good")).succeeds();

        let kubeconfig = Cluster::kubeconfig(&space.suite.directory.join("cluster"));
        let doctor = [
            "doctor",
            "--data-dir",
            "data",
            "-o",
            "json",
            "--kubeconfig",
            kubeconfig.to_str().unwrap(),
        ];
        // Other tests' registrations count for the exit code, too.
        let found = || {
            let ran = program(&directory, &doctor);
            let value: Value = serde_json::from_slice(&ran.stdout).unwrap();
            let all = value["findings"].as_array().unwrap().clone();
            // Other tests register webhooks of their own, which are not ours.
            let mine = all.iter().filter(|one| {
                let place = one["where"].as_str().unwrap();
                !place.contains("webhook ") || place.contains("portcullis-generated")
            });
            let mine: Vec<Value> = mine.cloned().collect();
            assert_eq!(ran.status.code(), Some(i32::from(is_bad(&all))), "{all:#?}");
            mine
        };
        let has = |all: &[Value], check: &str, state: &str, needle: &str| {
            let fits = |one: &Value| {
                one["check"] == check
                    && one["state"] == state
                    && one["what"].as_str().unwrap().contains(needle)
            };
            assert!(all.iter().any(fits), "{check} {state} {needle}: {all:#?}");
        };
        let all = found();
        has(&all, "cluster", "ok", "Kubernetes v1.");
        has(&all, "clock", "ok", "agrees");
        has(&all, "registrations", "ok", "leaves out what is needed");
        has(
            &all,
            "registrations",
            "ok",
            "caBundle is the CA of the certificate for 127.0.0.1",
        );
        has(&all, "reachability", "ok", "the API server called it");
        let has_problem = |all: &[Value]| all.iter().any(|one| one["state"] == "problem");
        assert!(!has_problem(&all), "{all:#?}");
        gate.stop();
        let all = found();
        assert!(has_problem(&all), "{all:#?}");
        has(&all, "reachability", "problem", "can't call it");
        let delete = [
            "delete",
            "validatingwebhookconfiguration",
            "portcullis-generated",
        ];
        space.kubectl.run(&delete).succeeds();
    });
}

/// Whether there is something to do.
fn is_bad(findings: &[Value]) -> bool {
    let states = ["problem", "warning"];
    findings
        .iter()
        .any(|one| states.iter().any(|state| one["state"] == *state))
}

/// Rules for everything: nodes and the control plane go on while no server answers, and everyone else is denied.
#[test]
fn rules_for_everything_do_not_hold_up_nodes() {
    in_namespace("generated-wide", |space| {
        let mut gate = space.portcullis("gate", "admission: {order: [AlwaysDeny]}\n");
        let directory = directory(space, "gate");
        let url = gate.url("");
        let base = ["generate", "webhooks", "--url", &url, "--ca", "ca.crt"];
        // Only its own namespace and objects, as other tests share the cluster.
        let made = text(&program(
            &directory,
            &[
                &base[..],
                &["-n", space.name, "--name", "portcullis-wide"],
                &["--phase", "validating", "-o", "json"],
            ]
            .concat(),
        ));
        let mut made: Value = serde_json::from_str(&made).unwrap();
        let rules = &mut made["webhooks"][0]["rules"];
        assert_eq!(rules[0]["resources"][0], "*/*");
        let mut nodes = rules[0].clone();
        rules[0]["scope"] = "Namespaced".into();
        nodes["apiGroups"] = serde_json::json!([""]);
        nodes["resources"] = serde_json::json!(["nodes", "nodes/status"]);
        rules.as_array_mut().unwrap().push(nodes);
        let label = serde_json::json!({"generated-wide": "yes"});
        made["webhooks"][0]["objectSelector"] = serde_json::json!({"matchLabels": label});
        let apply = ["apply", "--server-side", "-f", "-"];
        space
            .kubectl
            .run_with_input(&apply, &made.to_string())
            .succeeds();
        let node = serde_json::json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "generated-wide", "labels": label},
        });
        let called = "portcullis.dev";
        until("nodes to be guarded", Duration::from_secs(10), || {
            space.kubectl.dry_run(&node).stderr.contains(called)
        });
        gate.stop();
        // The second group may do everything, since nobody is bound to the role of nodes here.
        let kubelet = space.kubectl.impersonating("system:node:generated-wide");
        let kubelet = kubelet
            .with("--as-group=system:nodes")
            .with("--as-group=system:masters");
        kubelet.create(&node).succeeds();
        let controller = space
            .kubectl
            .impersonating("system:serviceaccount:kube-system:node-controller");
        let taint = [
            "taint",
            "node",
            "generated-wide",
            "example.org/x=:NoSchedule",
        ];
        controller.run(&taint).succeeds();
        // Everyone else waits.
        let answer = space
            .kubectl
            .run(&["label", "node", "generated-wide", "a=b"])
            .fails();
        assert!(answer.stderr.contains(called), "{answer:#?}");
        let delete = [
            "delete",
            "validatingwebhookconfiguration",
            "portcullis-wide",
        ];
        let node = ["delete", "node", "generated-wide"];
        kubelet.run(&node).succeeds();
        space.kubectl.run(&delete).succeeds();
    });
}

#[test]
fn generated_roles_are_applied() {
    in_namespace("generated-roles", |space| {
        let directory = space.suite.directory.join(space.name);
        std::fs::create_dir_all(&directory).unwrap();
        let configuration = "admission: {order: [ScopedAccess]}\n\
                             graph: {profiles: [{name: agents, profile: gardener, inCluster: true}]}\n";
        std::fs::write(directory.join("portcullis.yaml"), configuration).unwrap();
        let made = text(&program(&directory, &["generate", "rbac"]));
        let dry = ["apply", "--server-side", "--dry-run=server", "-f", "-"];
        space.kubectl.run_with_input(&dry, &made).succeeds();
    });
}

/// What a kube-apiserver without a store says of a file for authorization, among other complaints.
fn judged(directory: &Path) -> String {
    let programs = std::env::var_os("KUBE_PROGRAMS").unwrap();
    let output = Command::new(Path::new(&programs).join("kube-apiserver"))
        .current_dir(directory)
        .arg("--authorization-config=out/authorization.yaml")
        .args([
            "--service-account-issuer=https://x",
            "--service-cluster-ip-range=10.0.0.0/24",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--etcd-servers must be specified"), "{said}");
    said
}

#[test]
fn the_generated_authorization_configuration_is_valid() {
    in_namespace("generated-authorization", |space| {
        let directory = space.suite.directory.join(space.name);
        std::fs::create_dir_all(&directory).unwrap();
        let configuration = "graph: {profiles: [{name: agents, profile: node, inCluster: true}]}\n\
                             authorization: {chains: {agents: [agents], default: [AlwaysDeny]}}\n";
        std::fs::write(directory.join("portcullis.yaml"), configuration).unwrap();
        std::fs::write(
            directory.join("ca.crt"),
            space.suite.authority.certificate(),
        )
        .unwrap();
        let out = directory.join("out");
        let generate = [
            "generate",
            "authorization",
            "--service",
            "gate/portcullis",
            "--ca",
            "ca.crt",
        ];
        let out = ["--write", "out", "--directory", out.to_str().unwrap()];
        text(&program(&directory, &[&generate[..], &out].concat()));
        let said = judged(&directory);
        assert!(!said.contains("authorizers"), "{said}");
        // It does look at the file.
        let file = directory.join("out/authorization.yaml");
        let wrong = std::fs::read_to_string(&file)
            .unwrap()
            .replace("NoOpinion", "Perhaps");
        std::fs::write(&file, wrong).unwrap();
        let said = judged(&directory);
        assert!(said.contains("failurePolicy"), "{said}");
    });
}
