//! `ImagePolicyWebhook`, judged by the API server's own plug-in with the same backend.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_e2e::{Cluster, ClusterConfig, Phase};
use portcullis_testing::{Reply, Request, Server};
use serde_json::{Value, json};

use crate::manifests::pod;
use crate::oracle::seen;
use crate::suite::{Space, in_namespace};

const NAMESPACE: &str = "image-policy";
const PLUGIN: &str = "ImagePolicyWebhook";

/// Says what the names of images ask for.
fn backend(request: &Request) -> Reply {
    let review = request.json();
    let spec = &review["spec"];
    let images: Vec<&str> = spec["containers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|container| container["image"].as_str())
        .collect();
    let has = |word: &str| images.iter().any(|image| image.contains(word));
    let is_excused = spec["annotations"]["ticket.image-policy.k8s.io/break-glass"] == "1234";
    let status = match () {
        () if has("broken") => return Reply::Status(404, "", "nothing here".to_owned()),
        () if has("odd") => return Reply::Body("{}".to_owned()),
        () if has("silent") => json!({"allowed": false}),
        () if has("bad") && !is_excused => {
            json!({"allowed": false, "reason": format!("not in {}", spec["namespace"])})
        }
        () => json!({"allowed": true, "auditAnnotations": {"looked-at": "yes"}}),
    };
    Reply::json(&json!({
        "apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "status": status,
    }))
}

/// A kubeconfig that leads to the backend.
fn kubeconfig(directory: &Path, space: &Space, server: &Server) -> PathBuf {
    fs::create_dir_all(directory).unwrap();
    let authorities = directory.join("images-ca.crt");
    fs::write(&authorities, space.suite.authority.certificate()).unwrap();
    let client = space.suite.authority.client("portcullis");
    let (certificate, key) = (directory.join("images.crt"), directory.join("images.key"));
    client.write(&certificate, &key);
    let path = directory.join("images.json");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "images",
        "clusters": [{"name": "images", "cluster": {
            "server": format!("{}/review", server.url()), "certificate-authority": authorities,
        }}],
        "users": [{"name": "us", "user": {"client-certificate": certificate, "client-key": key}}],
        "contexts": [{"name": "images", "context": {"cluster": "images", "user": "us"}}],
    });
    fs::write(&path, config.to_string()).unwrap();
    path
}

fn of_images(name: &str, images: &[&str], annotations: &Value) -> Value {
    let container = |(index, image): (usize, &&str)| json!({"name": format!("c{index}"), "image": format!("registry.example/{image}")});
    let containers: Vec<Value> = images.iter().enumerate().map(container).collect();
    let mut pod = pod(name, json!({"containers": containers}));
    if !annotations.is_null() {
        pod["metadata"]["annotations"] = annotations.clone();
    }
    pod
}

fn manifests() -> Vec<Value> {
    let mut first = of_images("first", &["good"], &Value::Null);
    first["spec"]["initContainers"] = json!([{"name": "first", "image": "registry.example/bad"}]);
    vec![
        of_images("good", &["good"], &Value::Null),
        of_images("bad", &["good", "bad"], &Value::Null),
        of_images("silent", &["silent"], &Value::Null),
        first,
        of_images(
            "excused",
            &["bad"],
            &json!({"ticket.image-policy.k8s.io/break-glass": "1234", "other": "x"}),
        ),
        of_images("other", &["bad"], &json!({"break-glass": "1234"})),
        of_images("broken", &["broken"], &Value::Null),
        of_images("odd", &["odd"], &json!({"other": "x"})),
    ]
}

#[test]
fn people_see_what_the_original_plugin_would_show_them() {
    in_namespace(NAMESPACE, |space| {
        let authority = &space.suite.authority;
        let server = Server::https(&authority.server("images"), backend);
        let directory = space.suite.directory.join(NAMESPACE);
        let configuration = json!({"imagePolicy": {
            "kubeConfigFile": kubeconfig(&directory, space, &server), "allowTTL": 50, "denyTTL": 50,
            "retryBackoff": 10, "defaultAllow": true,
        }});
        let original = Cluster::start(
            space.suite.programs.clone(),
            &directory.join("original"),
            authority,
            &ClusterConfig {
                enabled_plugins: &[PLUGIN],
                disabled_plugins: &["DefaultTolerationSeconds"],
                plugin_configurations: &[(PLUGIN, configuration.clone())],
                ..ClusterConfig::default()
            },
        );
        original
            .kubectl()
            .run(&["create", "namespace", NAMESPACE])
            .succeeds();
        let original = original.kubectl().in_namespace(NAMESPACE);
        let plugins = json!([{"name": PLUGIN, "configuration": configuration}]);
        let portcullis = space.gate(
            Phase::Mutating,
            &format!("admission: {{plugins: {plugins}}}\n"),
        );
        let validating = space.webhook(Phase::Validating, &portcullis);
        space
            .webhooks(Phase::Validating, vec![validating])
            .register();
        for manifest in manifests() {
            let [ours, theirs] =
                [&space.kubectl, &original].map(|kubectl| seen(kubectl, &manifest));
            assert_eq!(ours, theirs, "{manifest}");
        }
        // Both plug-ins asked the same, whatever else they sent.
        let specs = |user_agent: &str| {
            let asked = server.requests();
            let asked = asked.iter().filter(|request| {
                let agent = request.header("user-agent").unwrap_or_default();
                agent.starts_with("portcullis") == (user_agent == "ours")
            });
            let mut specs: Vec<String> = asked
                .map(|request| request.json()["spec"].to_string())
                .collect();
            specs.sort();
            specs.dedup();
            specs
        };
        assert_eq!(specs("ours"), specs("theirs"));
    });
}
