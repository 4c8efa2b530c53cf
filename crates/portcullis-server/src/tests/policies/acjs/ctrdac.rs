//! Reviews as ctrdac sends them: a pod made of a container, or the container itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::tests::harness::{Acjs, Verdict, request};
use portcullis_testing::policies::native;

const CREATE: &str = "/containerd.services.containers.v1.Containers/Create";

/// Everything about a review of ctrdac but the object: it knows neither name nor kind.
fn review(object: &Value) -> Value {
    let kind = json!({"group": "", "version": "v1", "kind": "unknown"});
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "7f0b2f5e-3a93-4f0e-8d7e-0c4b8f0b7a11",
        "kind": kind, "requestKind": kind, "resource": resource, "requestResource": resource,
        "name": "unknown", "namespace": "unknown-ns", "operation": "CREATE", "dryRun": false,
        "userInfo": {"username": "root", "uid": "0", "groups": ["root"]},
        "object": object, "oldObject": null, "options": null,
    }})
}

/// With the conversion: a pod of exactly one container.
fn converted() -> Value {
    json!({
        "metadata": {"creationTimestamp": null},
        "kind": "Pod", "apiVersion": "v1",
        "spec": {
            "containers": [{
                "name": "0a1b2c3d", "image": "registry.example/shop/web@sha256:0123",
                "command": ["/bin/sh", "-c", "sleep 5"],
                "workingDir": "/", "tty": true, "resources": {},
                "env": [{"name": "PATH", "value": "/usr/bin:/bin"}],
                "volumeMounts": [{"name": "vol0", "mountPath": "/data"}],
                "securityContext": {
                    "capabilities": {"add": ["cap_net_raw"]}, "privileged": false,
                    "runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": false,
                },
            }],
            "volumes": [{"name": "vol0", "hostPath": {"path": "/srv/data"}}],
            "hostNetwork": false, "hostPID": true,
        },
        "status": {},
    })
}

fn runc() -> Value {
    json!({"ociVersion": "1.1.0", "hostname": "web", "process": {
        "args": ["/bin/sh"], "cwd": "/", "env": ["PATH=/usr/bin:/bin", "TERM=xterm"],
        "user": {"uid": 0, "gid": 0},
    }})
}

/// Without it: what containerd is asked.
fn raw(spec: &Value) -> Value {
    let spec = json!({
        "type_url": "types.containerd.io/opencontainers/runtime-spec/1/Spec",
        "value": STANDARD.encode(spec.to_string()),
    });
    json!({"container": {
        "id": "0a1b2c3d", "labels": {"app": "web"}, "image": "registry.example/shop/web:1",
        "runtime": {"name": "io.containerd.runc.v2", "options": {"type_url": "x", "value": "AA=="}},
        "spec": spec, "snapshotter": "overlayfs", "snapshot_key": "0a1b2c3d",
        "created_at": "0001-01-01T00:00:00Z", "updated_at": "0001-01-01T00:00:00Z",
    }})
}

/// The answer, as ctrdac asks: a new connection to the host `unix`, and the call in a header.
fn asked(server: &Acjs, object: &Value) -> Verdict {
    let body = review(object).to_string();
    let bytes = request(
        "POST",
        "/",
        &[
            ("X-Ctrdac-Requesturi", CREATE),
            ("User-Agent", "Go-http-client/1.1"),
        ],
        body.as_bytes(),
    );
    let text = String::from_utf8(bytes).unwrap();
    let mut connection = server.connect();
    let text = text.replacen("Host: localhost", "Host: unix", 1);
    connection.send(text.as_bytes()).unwrap();
    let answer = connection.receive().unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    // What ctrdac does not survive: no response, or a denial without a status.
    assert!(answer["response"].is_object(), "{answer}");
    assert!(answer["response"]["status"].is_object(), "{answer}");
    Verdict(answer["response"].clone())
}

#[test]
fn a_converted_pod_is_judged() {
    let code = "const c = object.spec.containers[0]\n\
        if (c.image.includes('evil')) return 'evil image'\n\
        if (object.spec.hostPID && req.userInfo.username !== 'root') return 'host PID'\n\
        c.command = ['/bin/echo', 'hello']; c.args = []; return true";
    let server = Acjs::of(&[("P", code)]);
    let verdict = asked(&server, &converted());
    verdict.allowed();
    let mut wanted = converted();
    wanted["spec"]["containers"][0]["command"] = json!(["/bin/echo", "hello"]);
    wanted["spec"]["containers"][0]["args"] = json!([]);
    assert_eq!(verdict.patched(&converted()), wanted);
    let mut evil = converted();
    evil["spec"]["containers"][0]["image"] = "evil:1".into();
    asked(&server, &evil).denied("P: evil image");
}

#[test]
fn the_specification_of_a_raw_container_is_rewritten() {
    let code = "runcSpec = JSON.parse(atob(object.container.spec.value))\n\
        runcSpec.process.env.push('SOMETHING=debug')\n\
        object.container.spec.value = btoa(JSON.stringify(runcSpec))";
    let mut config = native(&[("P", code)]);
    config["defaultAction"] = "allow".into();
    let server = Acjs::start(config);
    let before = raw(&runc());
    let verdict = asked(&server, &before);
    verdict.allowed();
    let after = verdict.patched(&before);
    let value = after["container"]["spec"]["value"].as_str().unwrap();
    let spec: Value = serde_json::from_slice(&STANDARD.decode(value).unwrap()).unwrap();
    let mut wanted = runc();
    let env = wanted["process"]["env"].as_array_mut().unwrap();
    env.push("SOMETHING=debug".into());
    assert_eq!(spec, wanted);
    let mut others = after;
    others["container"]["spec"]["value"] = before["container"]["spec"]["value"].clone();
    assert_eq!(others, before, "something else changed");
}

#[test]
fn the_caller_and_the_call_are_known() {
    let code = "const r = ac.HTTPRequest\n\
        return [r.Header.Get('X-Ctrdac-RequestUri'), r.Host, r.RequestURI, req.name, req.namespace, req.kind.kind,\n\
          req.resource.resource, ac.UserAuthNMethod, ac.User.Uid, ac.User.Pid > 1].join(' ')";
    let server = Acjs::of(&[("P", code)]);
    let uid = std::fs::metadata(server.folder.root()).unwrap();
    let uid = std::os::unix::fs::MetadataExt::uid(&uid);
    let verdict = asked(&server, &raw(&runc()));
    let wanted =
        format!("P: {CREATE} unix / unknown unknown-ns unknown pods unix-domain-socket {uid} true");
    assert_eq!(verdict.message(), wanted);
}
