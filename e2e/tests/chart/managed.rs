//! Certificates that Portcullis manages by itself: the release has room for them and leaves them alone.

use portcullis_e2e::{Authority, Cluster, Helm, Kubectl};
use serde_json::{Value, json};

use crate::suite::{chart, repository, with_suite};

const RELEASE: &[&str] = &["--namespace", "portcullis"];
/// What a server would write: any Base64 text will do for the API server.
const AUTHORITY: &str = "b3VyIG93biBDQQ==";

/// Rules for everything.
const WIDE: &str = r#"webhooks.rules=[{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]"#;

/// Writes what a server writes.
fn write_certificates(kubectl: &Kubectl) {
    let patch =
        json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": AUTHORITY}]);
    kubectl
        .run(&[
            "patch",
            "validatingwebhookconfiguration",
            "portcullis",
            "--type=json",
            "-p",
            &patch.to_string(),
        ])
        .succeeds();
    let data = json!({"data": {"ca.crt": AUTHORITY, "tls.key": AUTHORITY}});
    kubectl
        .run(&[
            "patch",
            "secret",
            "portcullis-tls",
            "-n",
            "portcullis",
            "-p",
            &data.to_string(),
        ])
        .succeeds();
}

/// What is registered: CA certificate and time limit.
#[track_caller]
fn registered(kubectl: &Kubectl) -> (Value, Value) {
    let stored = kubectl.stored("validatingwebhookconfiguration", "portcullis");
    let webhook = &stored["webhooks"][0];
    (
        webhook["clientConfig"]["caBundle"].clone(),
        webhook["timeoutSeconds"].clone(),
    )
}

#[track_caller]
fn must_be_kept(kubectl: &Kubectl, what: &str, timeout: u64) {
    assert_eq!(
        registered(kubectl),
        (json!(AUTHORITY), json!(timeout)),
        "{what}"
    );
    let secret = kubectl
        .in_namespace("portcullis")
        .stored("secret", "portcullis-tls");
    assert_eq!(secret["data"]["tls.key"], AUTHORITY, "{what}");
}

#[test]
fn an_upgrade_leaves_certificates_alone() {
    with_suite("managed", |suite, directory| {
        let cluster = suite.cluster(directory, &Authority::new("portcullis-e2e"));
        let kubectl = cluster.kubectl();
        let helm = suite.helm.in_cluster(directory);
        let chart = chart();
        notes(&helm);
        let release = |command: &[&str], more: &[&str]| {
            helm.run(&[command, RELEASE, more].concat()).succeeds();
        };
        release(
            &["install", "portcullis", &chart, "--create-namespace"],
            &[],
        );
        assert_eq!(registered(&kubectl), (Value::Null, json!(5)));
        write_certificates(&kubectl);

        release(
            &["upgrade", "portcullis", &chart],
            &["--set", "webhooks.timeoutSeconds=3"],
        );
        must_be_kept(&kubectl, "upgrade", 3);
        release(
            &["upgrade", "portcullis", &chart],
            &["--reuse-values", "--set", "replicaCount=2"],
        );
        must_be_kept(&kubectl, "upgrade with the values of before", 3);
        release(&["rollback", "portcullis", "1"], &[]);
        must_be_kept(&kubectl, "rollback", 5);

        rights(&kubectl);
        release(&["uninstall", "portcullis"], &[]);
        assert!(!kubectl.exists("validatingwebhookconfiguration", "portcullis"));
        let secret = kubectl
            .in_namespace("portcullis")
            .exists("secret", "portcullis-tls");
        assert!(!secret, "the key of the CA is still there");
        manifests(&cluster);
    });
}

/// What Helm prints after an installation.
fn notes(helm: &Helm) {
    let notes = |arguments: &[&str]| {
        let chart = chart();
        let fixed = [
            "install",
            "portcullis",
            &chart,
            "--namespace=gate",
            "--dry-run=client",
        ];
        let answer = helm.run(&[&fixed, arguments].concat()).succeeds();
        let (_, notes) = answer.stdout.split_once("NOTES:").unwrap();
        notes.to_owned()
    };
    let usual = notes(&[]);
    assert!(
        usual.contains("kubectl delete validatingwebhookconfiguration portcullis"),
        "{usual}"
    );
    assert!(
        usual.contains("Not guarded: the namespaces kube-node-lease, kube-system, gate."),
        "{usual}"
    );
    assert!(
        !usual.contains("WARNING") && !usual.contains("leases"),
        "{usual}"
    );
    assert!(!usual.contains("Labels of namespaces"), "{usual}");
    let wide = notes(&["--set-json", WIDE]);
    assert!(wide.contains("Nor are leases"), "{wide}");
    let blind = notes(&["--set", "kube.enabled=false"]);
    assert!(blind.contains("Labels of namespaces"), "{blind}");
    let wide = notes(&["--set-json", WIDE]);
    assert!(wide.contains("WARNING: the rule for"), "{wide}");
    let off = notes(&["--set", "webhooks.validating.enabled=false"]);
    assert!(
        off.contains("not registered as an admission webhook"),
        "{off}"
    );
}

/// The servers may write that, and nothing else.
fn rights(kubectl: &Kubectl) {
    let server = kubectl.impersonating("system:serviceaccount:portcullis:portcullis");
    let may = |arguments: &[&str]| {
        let fixed = ["auth", "can-i", "--namespace=portcullis"];
        server.run(&[&fixed, arguments].concat()).is_success()
    };
    for verb in ["get", "update"] {
        assert!(may(&[verb, "secret/portcullis-tls"]), "{verb}");
        assert!(!may(&[verb, "secret/another"]), "{verb}");
        assert!(
            !may(&[verb, "secret/portcullis-tls", "--namespace=kube-system"]),
            "{verb}"
        );
    }
    for verb in ["get", "patch"] {
        for kind in [
            "validatingwebhookconfiguration",
            "mutatingwebhookconfiguration",
        ] {
            assert!(may(&[verb, &format!("{kind}/portcullis")]), "{verb}");
            assert!(!may(&[verb, &format!("{kind}/another")]), "{verb}");
        }
    }
    // What PodSecurity reads.
    for kind in ["namespaces", "pods"] {
        assert!(may(&["list", kind]), "{kind}");
    }
    for denied in [
        ["create", "secrets"],
        ["list", "secrets"],
        ["delete", "secret/portcullis-tls"],
        ["delete", "validatingwebhookconfiguration/portcullis"],
        ["create", "validatingwebhookconfigurations"],
        ["delete", "pods"],
        ["get", "configmaps"],
    ] {
        assert!(!may(&denied), "{denied:?}");
    }
}

/// The same without helm.
fn manifests(cluster: &Cluster) {
    let kubectl = cluster.kubectl();
    let folder = repository().join("deploy/manifests");
    let apply = |more: &[&str]| {
        let fixed = ["apply", "-f", folder.to_str().unwrap()];
        kubectl.run(&[&fixed, more].concat()).succeeds();
    };
    apply(&[]);
    write_certificates(&kubectl);
    apply(&[]);
    must_be_kept(&kubectl, "apply", 5);
    apply(&["--server-side", "--force-conflicts"]);
    must_be_kept(&kubectl, "server-side apply", 5);
}
