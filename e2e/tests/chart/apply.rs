//! Everything that the chart renders, and the plain manifests, are accepted by the API server.

use std::path::Path;

use portcullis_e2e::{Authority, Kubectl};

use crate::suite::{chart, documents, repository, values_files, with_suite};

#[test]
fn all_objects_are_accepted_by_the_api_server() {
    with_suite("apply", |suite, directory| {
        let cluster = suite.cluster(directory, &Authority::new("portcullis-e2e"));
        let kubectl = cluster.kubectl();
        apply(&kubectl, &["-f", &suite.definitions()], "");
        kubectl
            .run(&[
                "wait",
                "--for=condition=Established",
                "crd",
                "--all",
                "--timeout=60s",
            ])
            .succeeds();
        kubectl
            .run(&["create", "namespace", "portcullis"])
            .succeeds();
        let alerts = Path::new(&chart()).join("files/alerts.yaml");
        for (name, file) in values_files() {
            let text = suite.template(&[
                "--values",
                file.to_str().unwrap(),
                // Both come from files that `make chart` copies, if they are there.
                "--set",
                &format!(
                    "metrics.dashboards.enabled=true,metrics.prometheusRule.enabled={}",
                    alerts.exists()
                ),
            ]);
            let answer = apply(&kubectl, &["-f", "-"], &text);
            let applied = answer
                .lines()
                .filter(|line| line.ends_with("serverside-applied"));
            assert_eq!(applied.count(), documents(&text).len(), "{name}: {answer}");
            // Registrations first: nothing answers for them here.
            for kind in [
                "validatingwebhookconfigurations",
                "mutatingwebhookconfigurations",
            ] {
                kubectl.run(&["delete", kind, "--all"]).succeeds();
            }
            kubectl
                .run_with_input(
                    &["delete", "--ignore-not-found", "--wait=false", "-f", "-"],
                    &text,
                )
                .succeeds();
        }
        let manifests = repository().join("deploy/manifests");
        apply(&kubectl, &["-f", manifests.to_str().unwrap()], "");
    });
}

/// `kubectl apply --server-side`, with the schema of every object checked strictly.
#[track_caller]
fn apply(kubectl: &Kubectl, files: &[&str], input: &str) -> String {
    let fixed = [
        "apply",
        "--server-side",
        "--force-conflicts",
        "--validate=strict",
    ];
    let answer = kubectl
        .run_with_input(&[&fixed, files].concat(), input)
        .succeeds();
    assert!(answer.warnings().is_empty(), "{answer:#?}");
    answer.stdout
}
