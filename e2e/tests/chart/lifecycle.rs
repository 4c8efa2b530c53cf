//! A release from its installation to its end, with a server that runs what the release says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use portcullis_e2e::{Answer, Authority, Cluster, Helm, Kubectl, free_ports, until};
use serde_json::{Value, json};

use crate::node::{Files, Node, Server};
use crate::suite::{chart, documents, with_suite};

/// The address of the Service, which is an address of this machine.
const ADDRESS: &str = "127.64.0.64";

struct Release<'a> {
    kubectl: Kubectl,
    helm: Helm,
    node: Node,
    values: &'a Path,
    /// That of the administrator.
    kubeconfig: PathBuf,
}

impl Release<'_> {
    /// Installs or upgrades it, with further arguments.
    #[track_caller]
    fn helm(&self, command: &str, arguments: &[&str]) {
        let values = self.values.to_str().unwrap();
        let chart = chart();
        let fixed = [
            command,
            "portcullis",
            &chart,
            "--namespace=portcullis",
            "--values",
            values,
        ];
        self.helm.run(&[&fixed, arguments].concat()).succeeds();
    }

    /// The pods as the release has them.
    fn pod(&self) -> Value {
        let deployment = self
            .kubectl
            .in_namespace("portcullis")
            .stored("deployment", "portcullis");
        deployment["spec"]["template"]["spec"].clone()
    }

    /// Writes what is stored in the cluster to the volumes.
    fn mount(&self) -> Value {
        let pod = self.pod();
        self.node.mount(&pod, |kind, name| {
            let stored = self.kubectl.in_namespace("portcullis").stored(kind, name);
            files(kind, &stored["data"])
        });
        self.give_account(&pod);
        pod
    }

    fn start(&self) -> Server {
        self.node.start(&self.mount(), ADDRESS)
    }

    /// The credentials that a pod has from its `ServiceAccount`, here in a kubeconfig file that the configuration names.
    fn give_account(&self, pod: &Value) {
        let account = pod["serviceAccountName"].as_str().unwrap();
        let token = self
            .kubectl
            .in_namespace("portcullis")
            .run(&["create", "token", account])
            .succeeds()
            .stdout;
        let administrator = fs::read(&self.kubeconfig).unwrap();
        let administrator: Value = serde_json::from_slice(&administrator).unwrap();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "pod",
            "clusters": [{"name": "here", "cluster": administrator["clusters"][0]["cluster"]}],
            "users": [{"name": "account", "user": {"token": token.trim()}}],
            "contexts": [{"name": "pod", "context": {"cluster": "here", "user": "account"}}],
        });
        let file = self.node.path("/tmp/kubeconfig.json");
        fs::write(&file, kubeconfig.to_string()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let configuration = self.node.path("/etc/portcullis/config/portcullis.yaml");
        let text = fs::read_to_string(&configuration).unwrap();
        let mut settings = documents(&text).remove(0);
        settings["kube"]["kubeconfig"] = json!(file);
        fs::write(&configuration, settings.to_string()).unwrap();
    }

    #[track_caller]
    fn create(&self, namespace: &str, name: &str, privileged: bool) -> Answer {
        self.kubectl.in_namespace(namespace).create(&json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{
                "name": "app", "image": "registry.example/app:1",
                "securityContext": {"privileged": privileged},
            }]},
        }))
    }

    /// What must hold while no server answers.
    #[track_caller]
    fn is_closed_and_can_heal(&self, round: &str) {
        let answer = self.create("shop", round, false).fails();
        assert!(
            answer.stderr.contains("failed calling webhook"),
            "{answer:#?}"
        );
        assert!(
            answer.stderr.contains("validate.portcullis.dev"),
            "{answer:#?}"
        );
        for namespace in ["kube-system", "portcullis"] {
            self.create(namespace, round, true).succeeds();
        }
    }
}

fn files(kind: &str, data: &Value) -> Files {
    let text = |value: &Value| match (kind, value.as_str().unwrap()) {
        ("Secret", encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap(),
        (_, plain) => plain.to_owned(),
    };
    let data = data.as_object().unwrap().iter();
    data.map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

#[test]
fn a_release_guards_the_cluster_and_leaves_it_free() {
    with_suite("lifecycle", |suite, directory| {
        let authority = Authority::new("portcullis-e2e");
        let cluster = suite.cluster(directory, &authority);
        let kubectl = cluster.kubectl();
        for namespace in ["shop", "portcullis", "kube-system"] {
            if !kubectl.exists("namespace", namespace) {
                kubectl.run(&["create", "namespace", namespace]).succeeds();
            }
        }
        create_certificate(&kubectl, &authority);
        let values = directory.join("values.json");
        write_values(&values, &authority);
        let release = Release {
            kubectl,
            helm: suite.helm.in_cluster(directory),
            node: Node::new(&directory.join("node")),
            values: &values,
            kubeconfig: Cluster::kubeconfig(directory),
        };

        release.helm("install", &[]);
        release.is_closed_and_can_heal("before");

        let mut server = release.start();
        until("the API server to call it", Duration::from_secs(30), || {
            release.create("shop", "first", false).is_success()
        });
        let denied = release.create("shop", "privileged", true).fails();
        assert!(
            denied
                .stderr
                .contains("violates PodSecurity \"baseline:latest\""),
            "{denied:#?}"
        );

        // Labels of namespaces count.
        let level = |level: &str| format!("pod-security.kubernetes.io/enforce={level}");
        for (namespace, level) in [
            ("shop", level("privileged")),
            ("strict", level("restricted")),
        ] {
            if namespace != "shop" {
                release
                    .kubectl
                    .run(&["create", "namespace", namespace])
                    .succeeds();
            }
            release
                .kubectl
                .run(&["label", "namespace", namespace, &level])
                .succeeds();
        }
        until(
            "the server to see the labels",
            Duration::from_secs(30),
            || {
                let denied = release.create("strict", "plain", false);
                denied
                    .stderr
                    .contains("violates PodSecurity \"restricted:latest\"")
            },
        );
        release.create("shop", "permitted", true).succeeds();

        // An upgrade changes the pods, which get another volume.
        let policy =
            "policies.names\\.js=if (object.metadata.name === 'second') deny('not this one')";
        release.helm("upgrade", &["--reuse-values", "--set", policy]);
        server.stop();
        let mut server = release.start();
        until("the policy", Duration::from_secs(30), || {
            let answer = release.create("shop", "second", false);
            answer.stderr.contains("not this one")
        });

        release
            .helm
            .run(&["rollback", "portcullis", "1", "--namespace=portcullis"])
            .succeeds();
        release.mount();
        server.reload();
        until("the release of before", Duration::from_secs(30), || {
            release.create("shop", "second", false).is_success()
        });

        server.stop();
        release.is_closed_and_can_heal("after");
        uninstall(&release, &cluster);
    });
}

/// While no server answers, which is when it matters.
fn uninstall(release: &Release<'_>, cluster: &Cluster) {
    let before = cluster.audit_log().len();
    release
        .helm
        .run(&["uninstall", "portcullis", "--namespace=portcullis"])
        .succeeds();
    release.create("shop", "free", true).succeeds();

    let left = release.kubectl.run(&[
        "get",
        "all,configmaps,secrets,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,networkpolicies,\
         poddisruptionbudgets,validatingwebhookconfigurations,mutatingwebhookconfigurations",
        "--all-namespaces",
        "--selector=app.kubernetes.io/instance=portcullis",
        "-o",
        "name",
    ]);
    assert_eq!(left.succeeds().stdout, "");

    // The registrations went before what they point to, and were not created again.
    let deletions: Vec<String> = cluster
        .audit_log()
        .iter()
        .skip(before)
        .filter(|entry| {
            entry["verb"] == "delete"
                && entry["userAgent"]
                    .as_str()
                    .is_some_and(|agent| agent.starts_with("Helm/"))
        })
        .map(|entry| entry["objectRef"]["resource"].as_str().unwrap().to_owned())
        .collect();
    let place = |resource: &str| {
        let found = deletions.iter().position(|one| one == resource);
        found.unwrap_or_else(|| panic!("no {resource} was deleted: {deletions:?}"))
    };
    for later in ["services", "deployments", "configmaps", "serviceaccounts"] {
        assert!(
            place("validatingwebhookconfigurations") < place(later),
            "{deletions:?}"
        );
    }
}

/// The Secret that an administrator brings.
fn create_certificate(kubectl: &Kubectl, authority: &Authority) {
    let identity = authority.server_at("portcullis", &["portcullis.portcullis.svc"]);
    kubectl
        .in_namespace("portcullis")
        .create(&json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {"name": "certificate"},
            "stringData": {"tls.crt": identity.certificate_pem, "tls.key": identity.key_pem},
        }))
        .succeeds();
}

fn write_values(file: &Path, authority: &Authority) {
    let [webhooks, operations] = free_ports();
    let values = json!({
        "tls": {
            "mode": "existingSecret",
            "existingSecret": {"name": "certificate", "caBundle": authority.certificate()},
        },
        "service": {"clusterIP": ADDRESS, "port": webhooks},
        "listen": {"address": ADDRESS, "ports": {"webhooks": webhooks, "operations": operations}},
        "shutdown": {"delaySeconds": 0, "graceSeconds": 5},
    });
    fs::write(file, values.to_string()).unwrap();
}
