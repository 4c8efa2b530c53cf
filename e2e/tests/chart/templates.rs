//! What the chart renders, for every values file: without a cluster.

use std::fs;
use std::path::Path;

use portcullis_e2e::{Authority, Portcullis};
use serde_json::{Value, json};

use crate::node::{Files, Node};
use crate::rendered::{Rendered, items, name};
use crate::suite::{Suite, repository, values_files, with_suite};

/// Runs a test with what each values file renders to.
fn with_each(test: &str, check: impl Fn(&'static Suite, &Path, &str, &Rendered)) {
    with_suite(test, |suite, directory| {
        for (name, file) in values_files() {
            let rendered = Rendered::of(&suite.template(&["--values", file.to_str().unwrap()]));
            let directory = directory.join(&name);
            fs::create_dir_all(&directory).unwrap();
            check(suite, &directory, &name, &rendered);
        }
    });
}

/// Files of a ConfigMap or Secret: those of the chart, or else what an administrator would have created.
fn files(rendered: &Rendered, certificates: &Files, kind: &str, named: &str) -> Files {
    let own = rendered
        .all(kind)
        .into_iter()
        .find(|object| name(object) == named && object.get("data").is_some());
    if let Some(own) = own {
        let data = own["data"].as_object().unwrap().iter();
        return data
            .map(|(name, text)| (name.clone(), text.as_str().unwrap().to_owned()))
            .collect();
    }
    let one = |file: &str, text: &str| vec![(file.to_owned(), text.to_owned())];
    match (kind, named) {
        ("Secret", "portcullis-database-app") => one(
            "uri",
            "postgres://portcullis:secret@db.example:5432/portcullis\n",
        ),
        ("Secret", "portcullis-corp") => one("key", "a key of thirty-two bytes or more.."),
        ("Secret", "portcullis-sessions") => one("session.key", "0123456789abcdef0123456789abcdef"),
        ("ConfigMap", "policies-of-shop" | "policies-of-security") => one(
            &format!("{named}.js"),
            "if (object.kind === 'Pod' && !object.spec) return 'no specification'",
        ),
        ("ConfigMap", "database-ca") => one("root.pem", &certificates[2].1),
        _ => certificates.clone(),
    }
}

fn certificates() -> Files {
    let authority = Authority::new("portcullis-e2e");
    let identity = authority.server_at("portcullis", &["portcullis.portcullis.svc"]);
    vec![
        ("tls.crt".to_owned(), identity.certificate_pem),
        ("tls.key".to_owned(), identity.key_pem),
        ("ca.crt".to_owned(), authority.certificate()),
    ]
}

#[test]
fn the_configuration_is_valid_where_the_volumes_are_mounted() {
    let certificates = certificates();
    with_each("check", |_, directory, name, rendered| {
        let node = Node::new(directory);
        let pod = rendered.pod();
        node.mount(pod, |kind, name| files(rendered, &certificates, kind, name));
        let file = node.path("/etc/portcullis/config/portcullis.yaml");
        // An absolute path of the container is not one of this machine.
        let text = fs::read_to_string(&file).unwrap();
        let here = node.path("/etc/portcullis");
        fs::write(
            &file,
            text.replace("/etc/portcullis", here.to_str().unwrap()),
        )
        .unwrap();
        let output = std::process::Command::new(Portcullis::program().unwrap())
            .args(["check", "--config", file.to_str().unwrap()])
            .env("KUBERNETES_SERVICE_HOST", "10.0.0.1")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {errors}\n{text}");
    });
}

#[test]
fn the_pods_are_within_our_own_restricted_level() {
    let configuration = "\
admission:
  plugins:
  - name: PodSecurity
    configuration:
      apiVersion: pod-security.admission.config.k8s.io/v1
      kind: PodSecurityConfiguration
      defaults: {enforce: restricted}
";
    with_each("restricted", |suite, directory, name, _| {
        let (configuration_file, manifests) = (
            directory.join("portcullis.yaml"),
            directory.join("all.yaml"),
        );
        fs::write(&configuration_file, configuration).unwrap();
        let (_, values) = values_files()
            .into_iter()
            .find(|(one, _)| one == name)
            .unwrap();
        fs::write(
            &manifests,
            suite.template(&["--values", values.to_str().unwrap()]),
        )
        .unwrap();
        let output = std::process::Command::new(Portcullis::program().unwrap())
            .arg("eval")
            .arg("--config")
            .arg(&configuration_file)
            .arg("-f")
            .arg(&manifests)
            .args(["-o", "json"])
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
        assert!(output.status.success(), "{name}: {answer:#}");
        let judged = items(&answer["results"]);
        // The pod of the test is denied if it is outside of the level, the Deployment is warned of.
        for kind in ["Pod", "Deployment"] {
            let one = judged
                .iter()
                .find(|one| one["kind"] == kind)
                .unwrap_or_else(|| panic!("{name}: no {kind}: {answer:#}"));
            assert_eq!(one["allowed"], true, "{name}: {one:#}");
        }
        let pod = pod_of_the_deployment(&manifests);
        let file = directory.join("pod.json");
        fs::write(&file, pod.to_string()).unwrap();
        let eval = |file: &Path| {
            std::process::Command::new(Portcullis::program().unwrap())
                .arg("eval")
                .arg("--config")
                .arg(&configuration_file)
                .arg("-f")
                .arg(file)
                .status()
                .unwrap()
                .code()
        };
        assert_eq!(eval(&file), Some(0), "{name}: {pod:#}");
        // The level is in force: the same pod with one thing too much is denied.
        let mut privileged = pod;
        privileged["spec"]["hostNetwork"] = json!(true);
        fs::write(&file, privileged.to_string()).unwrap();
        assert_eq!(eval(&file), Some(1), "{name}");
    });
}

fn pod_of_the_deployment(manifests: &Path) -> Value {
    let rendered = Rendered::of(&fs::read_to_string(manifests).unwrap());
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "server", "namespace": "portcullis"}, "spec": rendered.pod(),
    })
}

#[test]
fn every_object_has_the_usual_labels_and_a_namespace_if_it_can() {
    const OF_THE_CLUSTER: [&str; 4] = [
        "ClusterRole",
        "ClusterRoleBinding",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ];
    with_each("labels", |_, _, values, rendered| {
        assert!(rendered.0.len() >= 8, "{values}");
        for object in &rendered.0 {
            let metadata = &object["metadata"];
            for label in [
                "app.kubernetes.io/name",
                "app.kubernetes.io/instance",
                "app.kubernetes.io/version",
                "app.kubernetes.io/managed-by",
                "helm.sh/chart",
            ] {
                assert!(
                    metadata["labels"][label].is_string(),
                    "{values}: {object:#}"
                );
            }
            let is_of_cluster = OF_THE_CLUSTER.contains(&object["kind"].as_str().unwrap());
            let expected = if is_of_cluster {
                Value::Null
            } else {
                json!("portcullis")
            };
            assert_eq!(metadata["namespace"], expected, "{values}: {object:#}");
        }
        let deployment = rendered.only("Deployment");
        let selector = deployment["spec"]["selector"]["matchLabels"]
            .as_object()
            .unwrap();
        for (key, value) in selector {
            assert_eq!(
                &deployment["spec"]["template"]["metadata"]["labels"][key], value,
                "{values}"
            );
        }
        if values == "everything" {
            assert!(
                rendered
                    .0
                    .iter()
                    .all(|one| one["metadata"]["labels"]["team"] == "platform")
            );
        }
    });
}

#[test]
fn a_registration_never_guards_what_starts_portcullis_again() {
    with_each("selectors", |_, _, values, rendered| {
        let registrations = rendered.registrations();
        assert_eq!(
            registrations.is_empty(),
            values == "no-webhooks",
            "{values}"
        );
        for registration in registrations {
            for webhook in items(&registration["webhooks"]) {
                let selector = &webhook["namespaceSelector"]["matchExpressions"][0];
                assert_eq!(selector["key"], "kubernetes.io/metadata.name");
                assert_eq!(selector["operator"], "NotIn");
                let exempt = items(&selector["values"]);
                for namespace in ["kube-node-lease", "kube-system", "portcullis"] {
                    let times = exempt.iter().filter(|one| **one == namespace).count();
                    assert_eq!(times, 1, "{values}: {exempt:?}");
                }
                assert_eq!(webhook["matchPolicy"], "Equivalent");
                let is_own = values == "existing-secret";
                assert_eq!(
                    webhook["clientConfig"]["caBundle"].is_string(),
                    is_own,
                    "{values}"
                );
                for rule in items(&webhook["rules"]) {
                    // The selector applies to namespaces, too.
                    let is_namespaces = rule["resources"] == json!(["namespaces"]);
                    assert!(rule["scope"] == "Namespaced" || is_namespaces, "{rule}");
                }
            }
        }
        for secret in rendered.all("Secret") {
            assert!(secret.get("data").is_none() && secret.get("stringData").is_none());
        }
    });
}

#[test]
fn certificates_are_published_where_the_servers_may_write() {
    with_each("published", |_, _, values, rendered| {
        let configuration = configuration(rendered);
        let registrations = rendered.registrations();
        let mut names: Vec<&str> = registrations.iter().map(|one| name(one)).collect();
        names.dedup();
        let roles = rendered.all("ClusterRole");
        let rules = roles.iter().flat_map(|role| items(&role["rules"]));
        let permitted: Vec<&Value> = rules
            .filter(|rule| rule["apiGroups"] == json!(["admissionregistration.k8s.io"]))
            .flat_map(|rule| items(&rule["resourceNames"]))
            .collect();
        for listener in items(&configuration["listeners"]) {
            let managed = &listener["tls"]["managed"];
            if managed.is_null() {
                continue;
            }
            let published: Vec<&Value> = items(&managed["webhooks"]).iter().collect();
            assert_eq!(published, names, "{values}");
            assert_eq!(published, permitted, "{values}");
        }
    });
}

/// What `portcullis generate webhooks` says of a configuration.
fn generated(directory: &Path, configuration: &Value) -> Value {
    let file = directory.join("portcullis.yaml");
    fs::write(&file, configuration.to_string()).unwrap();
    let output = std::process::Command::new(Portcullis::program().unwrap())
        .args([
            "generate",
            "webhooks",
            "--service",
            "portcullis/portcullis",
            "-o",
            "json",
        ])
        .arg("--config")
        .arg(&file)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    made["webhooks"][0].clone()
}

/// Group, resource and operation of everything that rules name.
fn named(rules: &Value) -> Vec<[String; 3]> {
    let mut all = Vec::new();
    for rule in items(rules) {
        let texts = |key: &str| {
            let texts = items(&rule[key]).iter();
            texts
                .map(|one| one.as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        for group in texts("apiGroups") {
            for resource in texts("resources") {
                for operation in texts("operations") {
                    all.push([group.clone(), resource.clone(), operation]);
                }
            }
        }
    }
    all
}

#[test]
fn registrations_are_those_that_the_program_would_generate() {
    with_suite("generated", |suite, directory| {
        fs::create_dir_all(directory).unwrap();
        let rendered = Rendered::of(&suite.template(&[]));
        let webhook = &rendered.registrations()[0]["webhooks"][0];
        let needed = generated(directory, &configuration(&rendered));
        let registered = named(&webhook["rules"]);
        let needed_rules = named(&needed["rules"]);
        assert!(needed_rules.len() > 10, "{needed_rules:?}");
        for one in needed_rules {
            assert!(registered.contains(&one), "{one:?} {registered:?}");
        }
        assert_eq!(webhook["matchConditions"], needed["matchConditions"]);
        assert_eq!(webhook["namespaceSelector"], needed["namespaceSelector"]);

        // Rules for everything leave out the same.
        let wide = r#"webhooks.rules=[{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]"#;
        let rendered = Rendered::of(&suite.template(&["--set-json", wide]));
        let webhook = &rendered.registrations()[0]["webhooks"][0];
        let policy =
            json!({"policies": [{"name": "p", "code": "return true"}], "defaultAction": "allow"});
        let needed = generated(directory, &policy);
        assert_eq!(items(&webhook["matchConditions"]).len(), 4);
        assert_eq!(webhook["matchConditions"], needed["matchConditions"]);
    });
}

#[test]
fn servers_are_replaced_without_one_less() {
    with_each("rollout", |_, _, values, rendered| {
        let deployment = &rendered.only("Deployment")["spec"];
        assert_eq!(
            deployment["strategy"]["rollingUpdate"],
            json!({"maxUnavailable": 0, "maxSurge": 1}),
            "{values}"
        );
        let configuration = configuration(rendered);
        let seconds = |key: &str| -> u64 {
            let text = configuration["shutdown"][key].as_str().unwrap();
            text.trim_end_matches('s').parse().unwrap()
        };
        let patience = deployment["template"]["spec"]["terminationGracePeriodSeconds"].as_u64();
        assert!(
            patience.unwrap() > seconds("delay") + seconds("grace"),
            "{values}"
        );
        assert!(seconds("delay") > 0, "{values}");
    });
}

/// The configuration of the servers.
fn configuration(rendered: &Rendered) -> Value {
    let named = rendered
        .all("ConfigMap")
        .into_iter()
        .find_map(|map| map["data"]["portcullis.yaml"].as_str());
    serde_saphyr::from_str(named.unwrap()).unwrap()
}

#[test]
fn rights_are_those_of_what_is_configured() {
    with_suite("rights", |suite, _| {
        let rules = |arguments: &[&str], kind: &str| -> Vec<Value> {
            let rendered = Rendered::of(&suite.template(arguments));
            let roles = rendered.all(kind);
            roles
                .iter()
                .flat_map(|role| items(&role["rules"]).to_vec())
                .collect()
        };
        let own = json!({
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
            "resourceNames": ["portcullis"], "verbs": ["get", "patch"],
        });
        let read = |group: &str, resources: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": ["get", "list", "watch"]});
        // Of the plug-in PodSecurity.
        let labels = read("", &["namespaces", "pods"]);
        assert_eq!(rules(&[], "ClusterRole"), [own.clone(), labels.clone()]);
        let blind = ["--set", "kube.enabled=false"];
        assert_eq!(rules(&blind, "ClusterRole"), std::slice::from_ref(&own));
        assert_eq!(
            rules(&[], "Role"),
            [json!({
                "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["portcullis-tls"],
                "verbs": ["get", "update"],
            })]
        );
        let kinds = "kube.kinds={v1/ConfigMap,networking.k8s.io/v1/NetworkPolicy,\
                     networking.k8s.io/v1/Ingress,gateway.networking.k8s.io/v1/Gateway,v1/Endpoints}";
        assert_eq!(
            rules(&["--set", kinds], "ClusterRole"),
            [
                own,
                labels,
                read("", &["configmaps"]),
                read("networking.k8s.io", &["networkpolicies"]),
                read("networking.k8s.io", &["ingresses"]),
                read("gateway.networking.k8s.io", &["gateways"]),
                read("", &["endpoints"]),
            ]
        );
        // With certificates of others there is nothing to be done in the cluster, and no token to do it with.
        let certificates = ["--set", "tls.mode=certManager,kube.enabled=false"];
        assert!(rules(&certificates, "ClusterRole").is_empty());
        assert!(rules(&certificates, "Role").is_empty());
        let token = |arguments: &[&str]| {
            let rendered = Rendered::of(&suite.template(arguments));
            rendered.pod()["automountServiceAccountToken"].clone()
        };
        assert_eq!(token(&certificates), false);
        assert_eq!(token(&[]), true);
    });
}

#[test]
fn a_changed_configuration_replaces_the_pods_and_changed_policies_do_not() {
    with_suite("checksums", |suite, _| {
        let checksum = |arguments: &[&str]| {
            let rendered = Rendered::of(&suite.template(arguments));
            let template = &rendered.only("Deployment")["spec"]["template"];
            template["metadata"]["annotations"]["checksum/config"].clone()
        };
        let usual = checksum(&["--set", "policies.a\\.js=return"]);
        assert!(usual.is_string());
        assert_eq!(checksum(&["--set", "policies.a\\.js=deny()"]), usual);
        let other = checksum(&["--set", "policies.a\\.js=return,config.limits.deadline=1s"]);
        assert_ne!(other, usual);
    });
}

#[test]
fn an_image_is_pinned_by_its_digest() {
    with_suite("image", |suite, _| {
        let image = |values: &str| {
            let rendered = Rendered::of(&suite.template(&["--set", values]));
            rendered.pod()["containers"][0]["image"].clone()
        };
        let digest = format!("sha256:{}", "0".repeat(64));
        assert_eq!(
            image(&format!(
                "image.repository=registry.example/gate,image.tag=next,image.digest={digest}"
            )),
            json!(format!("registry.example/gate@{digest}"))
        );
        assert_eq!(image("image.tag=next"), "localhost/portcullis:next");
    });
}

#[test]
fn the_versions_of_chart_and_program_are_the_same() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let chart: Value = serde_saphyr::from_str(&read("deploy/helm/portcullis/Chart.yaml")).unwrap();
    for key in ["version", "appVersion"] {
        assert_eq!(chart[key], env!("CARGO_PKG_VERSION"), "{key}");
    }
}
