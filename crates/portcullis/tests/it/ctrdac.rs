//! containerd without Kubernetes: what ctrdac sends for a container, in both of its modes, and what it makes of the
//! answer. [`Ctrdac`] stands for the program, which can't be built here: it sends the same bytes over a unix socket.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::{Acjs, AcjsSetup, Connection, Folder, Verdict, repository};

const CREATE: &str = "/containerd.services.containers.v1.Containers/Create";

/// ctrdac between a client of containerd and containerd.
struct Ctrdac {
    /// The sockets given by `-mutating-webhook` and `-validating-webhook`, in their order.
    mutating: Vec<PathBuf>,
    validating: Vec<PathBuf>,
    /// Without `-no-k8s-conversion`.
    converts: bool,
}

impl Ctrdac {
    /// Creates a container: what containerd gets, or the error that the client gets.
    fn create(&self, container: &Value) -> Result<Value, String> {
        let mut container = container.clone();
        for webhook in &self.mutating {
            let object = self.object(&container);
            let verdict = asked(webhook, &object)?;
            container = self.taken_back(&container, &verdict.patched(&object))?;
        }
        for webhook in &self.validating {
            asked(webhook, &self.object(&container))?;
        }
        Ok(container)
    }

    fn object(&self, container: &Value) -> Value {
        match self.converts {
            true => pod(container),
            false => json!({"container": container}),
        }
    }

    /// What flows back: of a pod the image and the command, else everything.
    fn taken_back(&self, before: &Value, object: &Value) -> Result<Value, String> {
        if !self.converts {
            let container = object["container"].clone();
            spec(&container);
            return Ok(container);
        }
        let Some([one]) = object["spec"]["containers"].as_array().map(Vec::as_slice) else {
            return Err("the pod must have one container".to_owned());
        };
        let words = |key: &str| one[key].as_array().cloned().unwrap_or_default();
        let mut spec = spec(before);
        spec["process"]["args"] = Value::Array([words("command"), words("args")].concat());
        let mut after = before.clone();
        after["image"] = one["image"].clone();
        after["spec"]["value"] = STANDARD.encode(spec.to_string()).into();
        Ok(after)
    }
}

/// The specification of runc in a container.
fn spec(container: &Value) -> Value {
    let value = container["spec"]["value"].as_str().unwrap();
    serde_json::from_slice(&STANDARD.decode(value).unwrap()).unwrap()
}

/// The pod that ctrdac makes of a container.
fn pod(container: &Value) -> Value {
    let process = &spec(container)["process"];
    json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"creationTimestamp": null},
        "spec": {"containers": [{
            "name": container["id"], "image": container["image"], "command": process["args"], "workingDir": process["cwd"],
            "env": [{"name": "PATH", "value": "/usr/bin:/bin"}], "resources": {},
            "securityContext": {"capabilities": {}, "privileged": false, "runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": false},
        }]},
        "status": {},
    })
}

/// One call of a webhook, over a connection of its own, byte for byte as Go writes the request.
fn asked(webhook: &Path, object: &Value) -> Result<Verdict, String> {
    let kind = r#"{"group":"","version":"v1","kind":"unknown"}"#;
    let resource = r#"{"group":"","version":"v1","resource":"pods"}"#;
    let body = format!(
        r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"7f0b2f5e-3a93-4f0e-8d7e-0c4b8f0b7a11","kind":{kind},"resource":{resource},"requestKind":{kind},"requestResource":{resource},"name":"unknown","namespace":"unknown-ns","operation":"CREATE","userInfo":{{"username":"root","uid":"0","groups":["root"]}},"object":{object},"oldObject":null,"dryRun":false,"options":null}}}}"#
    );
    let length = body.len();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: unix\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: {length}\r\nContent-Type: application/json\r\nX-Ctrdac-Requesturi: {CREATE}\r\nAccept-Encoding: gzip\r\n\r\n"
    );
    let sent = || -> io::Result<_> {
        let mut connection = Connection::unix(webhook)?;
        connection.send((head + &body).as_bytes())?;
        connection.receive()
    };
    let answer = sent().map_err(|error| format!("webhook: {error}"))?;
    if !(200..300).contains(&answer.status) {
        return Err(format!("webhook: {}", answer.status));
    }
    // Without these ctrdac would crash.
    let response = answer.json()["response"].clone();
    assert!(
        response.is_object() && response["status"].is_object(),
        "{response}"
    );
    match response["allowed"] == true {
        true => {
            let patches = response.get("patch").is_some();
            assert!(
                !patches || response["patchType"] == "JSONPatch",
                "{response}"
            );
            Ok(Verdict(response))
        }
        false => {
            let text = |key: &str| response["status"][key].as_str().unwrap_or_default().trim();
            Err(format!(
                "InvalidArgument: {}: {}",
                text("reason"),
                text("message")
            ))
        }
    }
}

/// A container as clients of containerd create it.
fn container(image: &str) -> Value {
    let process = json!({"args": ["/bin/sh"], "cwd": "/", "env": ["PATH=/usr/bin:/bin"], "user": {"uid": 0, "gid": 0}});
    let spec = json!({"ociVersion": "1.1.0", "process": process});
    json!({
        "id": "0a1b2c3d", "image": image, "runtime": {"name": "io.containerd.runc.v2"},
        "spec": {
            "type_url": "types.containerd.io/opencontainers/runtime-spec/1/Spec",
            "value": STANDARD.encode(spec.to_string()),
        },
        "snapshotter": "overlayfs", "snapshot_key": "0a1b2c3d",
        "created_at": "0001-01-01T00:00:00Z", "updated_at": "0001-01-01T00:00:00Z",
    })
}

/// A server with an example.
fn example(name: &str) -> Acjs {
    let folder = Folder::new();
    let file = repository()
        .join("examples")
        .join(name)
        .join("portcullis.yaml");
    folder.write("acjs.yaml", std::fs::read(file).unwrap());
    AcjsSetup::of(folder, "acjs.yaml").start()
}

#[test]
fn with_the_conversion_a_changed_pod_changes_what_the_container_runs() {
    let server = example("acjs-parameters");
    let ctrdac = Ctrdac {
        mutating: vec![server.socket()],
        validating: vec![server.socket()],
        converts: true,
    };
    let before = container("registry.example/shop/web:1");
    let after = ctrdac.create(&before).unwrap();
    let mut wanted = spec(&before);
    wanted["process"]["args"] = json!([
        "/bin/echo",
        "hello :) sorry, this is probably not what you expected."
    ]);
    assert_eq!(spec(&after), wanted);
    assert_eq!(after["image"], before["image"]);
}

#[test]
fn without_the_conversion_the_specification_of_runc_is_changed() {
    let server = example("acjs-runc");
    let ctrdac = Ctrdac {
        mutating: vec![server.socket()],
        validating: vec![],
        converts: false,
    };
    let before = container("registry.example/shop/web:1");
    let after = ctrdac.create(&before).unwrap();
    let mut wanted = spec(&before);
    wanted["process"]["env"] = json!(["PATH=/usr/bin:/bin", "SOMETHING=debug"]);
    assert_eq!(spec(&after), wanted);
    let mut rest = after;
    rest["spec"] = before["spec"].clone();
    assert_eq!(rest, before, "something else changed");
}

#[test]
fn a_denial_reaches_the_client_of_containerd_in_both_modes() {
    let raw = example("acjs-ctrdac");
    let denied = "InvalidArgument: VIOLATES_POLICY: containers of ctrdac: only images of registry.example may run";
    let mut ctrdac = Ctrdac {
        mutating: vec![],
        validating: vec![raw.socket()],
        converts: false,
    };
    let created = |ctrdac: &Ctrdac, image: &str| ctrdac.create(&container(image));
    created(&ctrdac, "registry.example/shop/web:1").unwrap();
    assert_eq!(created(&ctrdac, "evil.example/web").unwrap_err(), denied);

    let code = "return object.spec.containers[0].image.startsWith('registry.example/') || 'only images of registry.example may run'";
    let pods = Acjs::of(&[("containers of ctrdac", code)]);
    ctrdac = Ctrdac {
        mutating: vec![],
        validating: vec![pods.socket()],
        converts: true,
    };
    created(&ctrdac, "registry.example/shop/web:1").unwrap();
    assert_eq!(created(&ctrdac, "evil.example/web").unwrap_err(), denied);
}

#[test]
fn the_first_webhook_that_denies_or_does_not_answer_ends_it() {
    let (mutating, validating) = (example("acjs-runc"), example("acjs-ctrdac"));
    let mut ctrdac = Ctrdac {
        mutating: vec![mutating.socket()],
        validating: vec![validating.socket()],
        converts: false,
    };
    let image = "registry.example/shop/web:1";
    assert_ne!(ctrdac.create(&container(image)).unwrap(), container(image));
    // Without a server no container is created.
    drop(validating);
    let error = ctrdac.create(&container(image)).unwrap_err();
    assert!(error.starts_with("webhook: "), "{error}");
    ctrdac.validating.clear();
    ctrdac.create(&container(image)).unwrap();
}
