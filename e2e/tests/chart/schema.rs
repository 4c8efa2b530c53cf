//! Values that can't be meant are rejected before anything is created, with the name of the value.

use crate::suite::{chart, values_files, with_suite};

/// Arguments of helm, and what its error says.
const REJECTED: &[(&[&str], &[&str])] = &[
    (&["--set", "replicas=2"], &["replicas"]),
    (&["--set", "replicaCount=0"], &["replicaCount", "minimum"]),
    (
        &["--set-string", "replicaCount=two"],
        &["replicaCount", "integer"],
    ),
    (&["--set", "tls.mode=selfSigned"], &["tls/mode", "managed"]),
    (
        &["--set", "webhooks.failurePolicy=Maybe"],
        &["failurePolicy", "Fail"],
    ),
    (
        &["--set", "webhooks.timeoutSeconds=31"],
        &["timeoutSeconds"],
    ),
    (
        &["--set", "webhooks.rules[0].operations[0]=create"],
        &["operations"],
    ),
    (
        &["--set", "webhooks.exemptNamespaces[0]=Kube_System"],
        &["exemptNamespaces"],
    ),
    (&["--set", "image.digest=sha256:1234"], &["digest"]),
    (
        &[
            "--set",
            "image.repository=registry.example/portcullis@sha256",
        ],
        &["repository"],
    ),
    (&["--set", "kube.kinds[0]=Namespace"], &["kube/kinds"]),
    (
        &["--set", "commonLabels.app\\.kubernetes\\.io/name=x"],
        &["app.kubernetes.io/name"],
    ),
    (
        &["--set", "config.listeners[0].name=x"],
        &["config.listeners is written by the chart: set listen and extraListeners"],
    ),
    (&["--set", "policies.no-latest=deny()"], &["no-latest"]),
    (
        &["--set", "store.url=postgres://user:secret@db/x"],
        &["store.url must not contain a password"],
    ),
    (
        &[
            "--set",
            "store.url=postgres://user@db/x?sslmode=require&password=hidden",
        ],
        &["store.url must not contain a password"],
    ),
    (&["--set", "store.url=mysql://db/x"], &["store/url"]),
    (&["--set", "listen.address=localhost"], &["listen/address"]),
    (
        &["--set", "tls.mode=existingSecret"],
        &["tls.existingSecret.name"],
    ),
    (
        &[
            "--set",
            "tls.mode=existingSecret,tls.existingSecret.name=x,tls.existingSecret.caBundle=x",
        ],
        &["caBundle"],
    ),
    (
        &["--set", "api.enabled=true"],
        &["api.sessionKeySecret.name"],
    ),
    (
        &[
            "--set",
            "api.enabled=true,api.sessionKeySecret.name=x,api.serves={api,ci}",
        ],
        &["`ci` needs store.url"],
    ),
    (
        &[
            "--set",
            "store.url=postgres://u@db/x,store.urlSecret.name=x",
        ],
        &["store.url and store.urlSecret can't be combined"],
    ),
    (
        &["--set", "store.passwordSecret.name=x"],
        &["store.passwordSecret needs store.url"],
    ),
    (
        &[
            "--set",
            "tenants.configMap.name=x",
            "--set-json",
            "tenants.document=[{\"tenant\":{\"name\":\"a\"}}]",
        ],
        &["tenants.document and tenants.configMap can't be combined"],
    ),
];

#[test]
fn wrong_values_are_rejected_by_name() {
    with_suite("schema", |suite, _| {
        let chart = chart();
        for (arguments, expected) in REJECTED {
            let answer = suite
                .helm
                .run(&[&["template", "portcullis", chart.as_str()], *arguments].concat())
                .fails();
            for text in *expected {
                assert!(answer.stderr.contains(text), "{text}: {answer:#?}");
            }
            let tells = ["secret@", "hidden"].map(|secret| answer.stderr.contains(secret));
            assert_eq!(tells, [false, false], "{answer:#?}");
        }
    });
}

#[test]
fn every_values_file_passes_the_strict_lint() {
    with_suite("lint", |suite, _| {
        for (name, file) in values_files() {
            let answer = suite.helm.run(&[
                "lint",
                "--strict",
                &chart(),
                "--values",
                file.to_str().unwrap(),
            ]);
            assert!(answer.is_success(), "{name}: {answer:#?}");
        }
    });
}
