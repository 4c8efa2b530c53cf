//! Files that the configuration names, made empty or replaced by what is not a file while the server
//! runs.

use std::process::Command;

use serde_json::{Value, json};

use super::{is_let_in, may};
use crate::harness::{Folder, Gate, Pki, Setup, free_port, pod, program, run_in, until};

const PROFILE: &str = include_str!("../../../../../examples/graph/edge.yaml");
const SECRET: &str = "0123456789abcdef0123456789abcdef";
const POLICY: &str = "import { words } from './lib/words.js'\nexport default () => words";
const PLUGINS: &str = "{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{name: PodSecurity, path: pss.yaml}]}";
const LEVELS: &str = "{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}";

/// Every file that a configuration can name, and that must not become empty.
fn files(pki: &Pki) -> Vec<(&'static str, String)> {
    vec![
        ("abac.jsonl", may("ann")),
        (
            "tenants.yaml",
            json!([{"tenant": {"name": "t"}}]).to_string(),
        ),
        ("tls.crt", pki.server.certificate_pem.clone()),
        ("tls.key", pki.server.key_pem.clone()),
        ("ca.crt", pki.authority.certificate_pem.clone()),
        ("corp.key", SECRET.to_owned()),
        ("client.key", SECRET.to_owned()),
        ("provider.crt", pki.authority.certificate_pem.clone()),
        ("session.key", SECRET.to_owned()),
        ("forward.crt", pki.authority.certificate_pem.clone()),
        ("edge.yaml", PROFILE.to_owned()),
        ("plugins.yaml", PLUGINS.to_owned()),
        ("pss.yaml", LEVELS.to_owned()),
        ("policies/judge.js", POLICY.to_owned()),
        (
            "policies/lib/words.js",
            "export const words = 'no'".to_owned(),
        ),
        (
            "policies/more.yaml",
            json!({"policies": [{"name": "idle", "code": "return"}]}).to_string(),
        ),
    ]
}

fn config() -> Value {
    let tls = json!({"certificate": "tls.crt", "key": "tls.key", "clientCA": "ca.crt"});
    let address = format!("127.0.0.1:{}", free_port());
    json!({
        "listeners": [{"name": "tls", "tcp": address, "tls": tls, "serves": ["kubernetes"]}],
        "admission": {"order": ["PodSecurity", "Policies"], "configFile": "plugins.yaml"},
        "policyDirs": ["policies"],
        "hostCalls": {"forwardTo": ["https://other.example/*"], "forwardCA": "forward.crt"},
        "authorization": {
            "authorizers": [{"name": "local", "driver": "ABAC", "file": "abac.jsonl"}],
            "chains": {"local": ["local"], "edge": ["edge"]},
        },
        "graph": {"profiles": [{"name": "edge", "profile": "edge.yaml", "objects": "objects"}]},
        "tenants": {"file": "tenants.yaml"},
        "authenticators": [
            {"name": "corp", "driver": "HS256", "issuer": "corp", "audience": "a", "secretFile": "corp.key"},
            {"name": "sso", "driver": "OpenIDConnect", "issuer": "https://sso.example", "audience": "a",
             "clientId": "portcullis", "clientSecretFile": "client.key", "caFile": "provider.crt"},
        ],
        "sessions": {"keyFile": "session.key"},
    })
}

fn gate(pki: &Pki) -> Gate {
    let mut setup = Setup::new(config());
    std::fs::create_dir(setup.path("objects")).unwrap();
    for (name, content) in files(pki) {
        setup = setup.file(name, content);
    }
    setup.start()
}

/// Waits until the reload has failed because of this file, and asserts that the old state counts.
#[track_caller]
fn keeps_its_state(gate: &Gate, file: &str) {
    let verbose = || gate.get("/readyz?verbose").text();
    until(&format!("the fault of {file} is shown"), || {
        verbose().contains("last reload failed") && verbose().contains(file)
    });
    gate.last_reload_is(false);
    assert_eq!(gate.get("/readyz").status, 200, "{file}");
    gate.validate(&pod()).denied("judge: no");
    assert!(is_let_in(gate, "ann"), "{file}");
}

#[track_caller]
fn recovers(gate: &Gate) {
    gate.hang_up();
    gate.last_reload_is(true);
}

#[test]
fn a_named_file_that_becomes_empty_fails_the_reload() {
    let pki = Pki::new();
    let gate = gate(&pki);
    for (name, content) in files(&pki) {
        for nothing in ["", "\n \n"] {
            gate.folder.write(name, nothing);
            // That changes are seen without a signal is shown elsewhere; here there are many.
            gate.hang_up();
            keeps_its_state(&gate, name);
            gate.folder.write(name, &content);
            recovers(&gate);
        }
    }
    let whole = std::fs::read_to_string(gate.folder.path("portcullis.yaml")).unwrap();
    gate.folder.write("portcullis.yaml", "");
    keeps_its_state(&gate, "portcullis.yaml");
    gate.folder.write("portcullis.yaml", whole);
    recovers(&gate);
}

#[test]
fn what_is_not_a_regular_file_fails_the_reload_at_once() {
    let gate = gate(&Pki::new());
    let strange = gate.folder.path("policies/strange.js");
    let made = Command::new("mkfifo").arg(&strange).status().unwrap();
    assert!(made.success());
    keeps_its_state(&gate, "strange.js");
    let ran = run_in(&gate.folder, &["check", "--config", "portcullis.yaml"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["strange.js", "it is a named pipe, not a regular file"]);
    std::fs::remove_file(&strange).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &strange).unwrap();
    keeps_its_state(&gate, "it is a device, not a regular file");
    std::fs::remove_file(&strange).unwrap();
    recovers(&gate);
    // Sixteen gibibytes that take no space.
    let huge = std::fs::File::create(&strange).unwrap();
    huge.set_len(1 << 34).unwrap();
    keeps_its_state(&gate, "it is larger than 16 MiB");
}

#[test]
fn an_empty_kubeconfig_is_refused() {
    let folder = Folder::new();
    let profile = json!({"name": "node", "profile": "node", "kubeconfig": "kubeconfig"});
    let config =
        json!({"graph": {"profiles": [profile]}, "authorization": {"chains": {"node": ["node"]}}});
    folder.write("portcullis.yaml", config.to_string());
    for nothing in ["", "\n", "{}"] {
        folder.write("kubeconfig", nothing);
        let ran = run_in(&folder, &["check", "--config", "portcullis.yaml"]);
        assert_eq!(ran.code, Some(3), "{nothing:?}: {}", ran.err);
        ran.says(&["graph.profiles[0].kubeconfig", "kubeconfig"]);
    }
}

#[test]
fn a_folder_of_policies_that_becomes_empty_is_a_warning() {
    let folder = Folder::new();
    let port = free_port();
    let listener = json!({"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["kubernetes", "health", "metrics"]});
    let config =
        json!({"listeners": [listener], "policyDirs": ["policies"], "defaultAction": "allow"});
    folder.write("portcullis.yaml", config.to_string());
    folder.write("policies/a.js", "return 'no'");
    let mut command = program(folder.root());
    command.args(["serve", "--config", "portcullis.yaml", "--data-dir", "data"]);
    let gate = Gate::spawn(folder, port, command);
    gate.validate(&pod()).denied("a: no");
    std::fs::remove_file(gate.folder.path("policies/a.js")).unwrap();
    until("the log warns", || {
        gate.log().contains("there are no policies in the folder")
    });
    until("the reload is told", || {
        gate.log().contains("policies removed a")
    });
}
