//! `portcullis doctor`: finds what is wrong, and changes nothing.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use portcullis_testing::{Reply, Request, Server};
use serde_json::{Value, json};

use crate::harness::{Folder, Pki, Ran, free_port, run_in};

/// The name that the API server calls.
const SERVICE: &str = "portcullis.gate.svc";

/// A folder with a configuration, certificates and a data directory.
struct Scene {
    folder: Folder,
    pki: Pki,
}

impl Scene {
    fn new() -> Self {
        let folder = Folder::new();
        let pki = Pki::of(&[SERVICE]);
        folder.write("tls.crt", &pki.server.certificate_pem);
        folder.write("tls.key", &pki.server.key_pem);
        std::fs::create_dir(folder.path("data")).unwrap();
        std::fs::set_permissions(folder.path("data"), Permissions::from_mode(0o700)).unwrap();
        let scene = Self { folder, pki };
        scene.configure("");
        scene
    }

    fn configure(&self, more: &str) {
        let port = free_port();
        self.folder.write(
            "portcullis.yaml",
            format!(
                "listeners:\n\
                 - {{name: hooks, tcp: '127.0.0.1:{port}', serves: [kubernetes, health], tls: {{certificate: tls.crt, key: tls.key}}}}\n\
                 admission: {{order: [PodSecurity]}}\n\
                 limits: {{connections: 64}}\n{more}"
            ),
        );
    }

    fn run(&self, more: &[&str]) -> Ran {
        run_in(
            &self.folder,
            &[&["doctor", "--data-dir", "data"][..], more].concat(),
        )
    }

    /// What was found, as JSON, and the exit code.
    #[track_caller]
    fn found(&self, more: &[&str]) -> (Vec<Value>, i32) {
        let ran = self.run(&[&["-o", "json"][..], more].concat());
        let value: Value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|error| panic!("{error}: {} {}", ran.out, ran.err));
        (
            value["findings"].as_array().unwrap().clone(),
            ran.code.unwrap(),
        )
    }

    /// States and messages of a check.
    #[track_caller]
    fn of(&self, check: &str, more: &[&str]) -> Vec<(String, String)> {
        let (found, _) = self.found(more);
        let mine = found.iter().filter(|one| one["check"] == check);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let found: Vec<_> = mine
            .map(|one| (text(&one["state"]), text(&one["what"])))
            .collect();
        assert!(!found.is_empty(), "nothing about {check}");
        found
    }

    #[track_caller]
    fn has(&self, check: &str, state: &str, needle: &str, more: &[&str]) {
        let found = self.of(check, more);
        let fits = |one: &(String, String)| one.0 == state && one.1.contains(needle);
        assert!(
            found.iter().any(fits),
            "{check} {state} {needle}: {found:#?}"
        );
    }
}

#[test]
fn all_is_well_and_nothing_is_changed() {
    let scene = Scene::new();
    let (found, code) = scene.found(&["--no-cluster"]);
    assert_eq!(code, 0, "{found:#?}");
    let states: Vec<&Value> = found.iter().map(|one| &one["state"]).collect();
    assert!(
        !states.is_empty()
            && states
                .iter()
                .all(|state| *state == "ok" || *state == "skipped")
    );
    assert_eq!(
        std::fs::read_dir(scene.folder.path("data"))
            .unwrap()
            .count(),
        0
    );
    let ran = scene.run(&["--no-cluster"]);
    assert!(ran.out.contains("ok       configuration"), "{}", ran.out);
    assert!(ran.err.contains("nothing to do"), "{}", ran.err);
}

#[test]
fn a_faulty_configuration_is_found_first() {
    let scene = Scene::new();
    scene.configure("polices: []\n");
    let (found, code) = scene.found(&["--no-cluster"]);
    assert_eq!(code, 1);
    assert_eq!(found[0]["state"], "problem");
    assert!(
        found[0]["where"]
            .as_str()
            .unwrap()
            .contains("portcullis.yaml:5"),
        "{found:#?}"
    );
    assert!(
        found[0]["todo"].as_str().unwrap().contains("policies"),
        "{found:#?}"
    );
}

#[test]
fn expired_certificates_are_found() {
    let scene = Scene::new();
    scene
        .folder
        .write("tls.crt", &scene.pki.expired.certificate_pem);
    scene.folder.write("tls.key", &scene.pki.expired.key_pem);
    scene.has("certificates", "problem", "expired", &["--no-cluster"]);
}

#[test]
fn permissions_are_checked() {
    let scene = Scene::new();
    let mode = |name: &str, mode| {
        std::fs::set_permissions(scene.folder.path(name), Permissions::from_mode(mode)).unwrap();
    };
    let quiet = &["--no-cluster"][..];
    mode("tls.key", 0o644);
    scene.has("keys", "warning", "others can read", quiet);
    mode("tls.key", 0o600);
    mode("portcullis.yaml", 0o666);
    scene.has("files", "problem", "others can write", quiet);
    mode("portcullis.yaml", 0o644);
    mode("data", 0o777);
    scene.has("data directory", "problem", "others can write", quiet);
    mode("data", 0o700);
    assert_eq!(scene.found(quiet).1, 0);
}

#[test]
fn a_store_that_can_not_be_used_is_found() {
    let scene = Scene::new();
    scene.folder.write(
        "data/portcullis.db",
        "not a database, but long enough to be taken for one of them",
    );
    let found = scene.of("store", &["--no-cluster"]);
    assert!(
        found.iter().any(|(state, _)| state == "problem"),
        "{found:#?}"
    );
    scene.configure("store: {url: 'postgres://nobody@127.0.0.1:1/none'}\n");
    scene.has("store", "problem", "127.0.0.1", &["--no-cluster"]);
}

#[test]
fn open_files_are_compared_with_connections() {
    let scene = Scene::new();
    let text = std::fs::read_to_string(scene.folder.path("portcullis.yaml")).unwrap();
    let many = text.replace("connections: 64", "connections: 4000000000");
    scene.folder.write("portcullis.yaml", many);
    scene.has("open files", "warning", "4000000000", &["--no-cluster"]);
}

/// An API server with these registrations; it answers everything else as a cluster with one namespace would.
fn api_server(webhook: Value, date: &'static str) -> Server {
    let webhook = Arc::new(webhook);
    Server::http(move |request: &Request| {
        let path = request.target().to_owned();
        let list = |items: Value| reply(200, &json!({"items": items}), date);
        match path.split('?').next().unwrap_or_default() {
            "/version" => reply(200, &json!({"gitVersion": "v1.36.4"}), date),
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations" => {
                list(json!([{"metadata": {"name": "portcullis"}, "webhooks": [*webhook]}]))
            }
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations" => {
                list(json!([]))
            }
            "/api/v1/namespaces" => list(json!([{"metadata": {"name": "default", "labels": {}}}])),
            "/api/v1/namespaces/gate/services/portcullis" => {
                reply(200, &json!({"spec": {"ports": [{"port": 443}]}}), date)
            }
            "/apis/discovery.k8s.io/v1/namespaces/gate/endpointslices" => list(json!([])),
            "/api/v1/namespaces/default/pods" => {
                assert!(path.ends_with("?dryRun=All"), "{path}");
                let message = "Internal error occurred: failed calling webhook \"validate.portcullis.dev\": failed to \
                               call webhook: no endpoints available";
                reply(500, &json!({"message": message}), date)
            }
            _ => reply(404, &json!({"message": "not found"}), date),
        }
    })
}

fn reply(status: u16, body: &Value, date: &str) -> Reply {
    let headers = format!("Content-Type: application/json\r\n{date}");
    Reply::with(
        &format!("{status} Status"),
        &headers,
        body.to_string().as_bytes(),
    )
}

fn kubeconfig(server: &Server) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": server.url()}}],
        "users": [{"name": "test", "user": {}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    })
    .to_string()
}

fn webhook(scene: &Scene) -> Value {
    let bundle = BASE64_STANDARD.encode(&scene.pki.authority.certificate_pem);
    json!({
        "name": "validate.portcullis.dev",
        "clientConfig": {
            "service": {"namespace": "gate", "name": "portcullis", "path": "/validate"}, "caBundle": bundle,
        },
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
        "timeoutSeconds": 1,
    })
}

#[test]
fn registrations_in_a_cluster_are_checked() {
    let scene = Scene::new();
    let server = api_server(webhook(&scene), "Date: Thu, 01 Jan 2015 00:00:00 GMT\r\n");
    scene.folder.write("kubeconfig", kubeconfig(&server));
    std::fs::set_permissions(
        scene.folder.path("kubeconfig"),
        Permissions::from_mode(0o600),
    )
    .unwrap();
    let cluster = &["--kubeconfig", "kubeconfig"][..];
    let (found, code) = scene.found(cluster);
    assert_eq!(code, 1);
    let has = |check: &str, state: &str, needle: &str| {
        let fits = |one: &&Value| {
            one["check"] == check
                && one["state"] == state
                && one["what"].as_str().unwrap().contains(needle)
        };
        let all = found
            .iter()
            .filter(|one| one["check"] == check)
            .collect::<Vec<_>>();
        assert!(
            found.iter().any(|one| fits(&one)),
            "{check} {state} {needle}: {all:#?}"
        );
    };
    has("cluster", "ok", "v1.36.4");
    has("clock", "problem", "behind");
    has("registrations", "problem", "gate and kube-system");
    has("registrations", "warning", "waits for 1s");
    has("registrations", "ok", "caBundle is the CA");
    has("registrations", "warning", "leave out");
    has("service", "problem", "no pod behind the Service is ready");
    has("reachability", "problem", "no endpoints available");
    for one in &found {
        let is_to_do = one["state"] == "problem" || one["state"] == "warning";
        assert!(!is_to_do || one["todo"].is_string(), "{one}");
    }
    // Nothing but reads and dry runs.
    for request in server.requests() {
        let is_trial = request.method() == "POST" && request.target().ends_with("?dryRun=All");
        assert!(request.method() == "GET" || is_trial, "{}", request.head);
    }
}

#[test]
fn a_cluster_that_does_not_answer_is_a_problem() {
    let scene = Scene::new();
    let server = Server::http(|_| reply(401, &json!({"message": "Unauthorized"}), ""));
    scene.folder.write("kubeconfig", kubeconfig(&server));
    scene.has(
        "cluster",
        "problem",
        "Unauthorized",
        &["--kubeconfig", "kubeconfig"],
    );
    scene.has(
        "credentials",
        "warning",
        "others can read",
        &["--kubeconfig", "kubeconfig"],
    );
    scene.has("cluster", "problem", "none", &["--kubeconfig", "none"]);
    scene.has("cluster", "skipped", "--kubeconfig", &[]);
}
