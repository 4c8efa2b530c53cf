//! `portcullis health`, as probes of containers call it.

use serde_json::json;

use crate::harness::{Folder, Gate, Pki, Setup, chain, free_port, run_in, until};

#[test]
fn a_server_is_found_by_its_configuration_and_healthy() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let cases: [&[&str]; 3] = [&[], &["--live"], &["--config", "portcullis.yaml"]];
    for more in cases {
        let ran = run_in(&gate.folder, &[&["health"][..], more].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
        let path = if more == ["--live"] {
            "/livez"
        } else {
            "/readyz"
        };
        let asked = format!("http://127.0.0.1:{} {path} answers ok\n", gate.port);
        assert_eq!(ran.err, asked);
    }
    let quiet = run_in(&gate.folder, &["health", "--quiet"]);
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
}

#[test]
fn a_server_that_shuts_down_is_alive_but_not_ready() {
    let mut config = chain(&["AlwaysAdmit"]);
    config["shutdown"] = json!({"delay": "60s", "grace": "1s"});
    let gate = Gate::start(config);
    gate.terminate();
    until("it is unhealthy", || {
        let ran = run_in(&gate.folder, &["health"]);
        ran.code == Some(1) && ran.err.contains("/readyz answers 503\n[-]shutdown")
    });
    assert_eq!(run_in(&gate.folder, &["health", "--live"]).code, Some(0));
    // The second signal ends it at once.
    gate.terminate();
}

#[test]
fn a_server_that_does_not_answer_is_not_healthy() {
    let folder = Folder::new();
    let url = format!("http://127.0.0.1:{}", free_port());
    let ran = run_in(&folder, &["health", "--url", &url]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    ran.says(&[&url, "/readyz"]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let ran = run_in(&folder, &["health", "--url", &url, "--timeout", "1s"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    ran.says(&["within 1s"]);
}

#[test]
fn mistakes_elsewhere_in_the_file_do_not_hide_a_server() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let broken = json!({"limits": {"deadline": "soon"}, "admission": {"order": ["Nonsense"]}, "policies": 3, "zzz": 1});
    gate.configure(broken);
    gate.last_reload_is(false);
    let ran = run_in(&gate.folder, &["health"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn sockets_are_asked_and_tls_is_verified() {
    let pki = Pki::new();
    let port = free_port();
    let tls = json!({"certificate": "tls.crt", "key": "tls.key"});
    let mut config = chain(&["AlwaysAdmit"]);
    config["listeners"] = json!([
        {"name": "tls", "tcp": format!("127.0.0.1:{port}"), "tls": tls, "serves": ["health"]},
        {"name": "socket", "unix": {"path": "health.sock"}, "serves": ["health"]},
    ]);
    let gate = Setup::new(config.clone())
        .file("tls.crt", &pki.server.certificate_pem)
        .file("tls.key", &pki.server.key_pem)
        .file("ca.crt", &pki.authority.certificate_pem)
        .start();
    let url = format!("https://127.0.0.1:{port}");
    let ran = run_in(&gate.folder, &["health", "--url", &url, "--ca", "ca.crt"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let other = Pki::new();
    gate.folder
        .write("other.crt", &other.authority.certificate_pem);
    let ran = run_in(
        &gate.folder,
        &["health", "--url", &url, "--ca", "other.crt"],
    );
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let socket = format!("unix://{}", gate.folder.path("health.sock").display());
    let ran = run_in(&gate.folder, &["health", "--url", &socket]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);

    // By configuration: a listener without TLS, wherever it stands in the list.
    gate.folder.write("only.yaml", config.to_string());
    let ran = run_in(&gate.folder, &["health", "--config", "only.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("health.sock"), "{}", ran.err);
    config["listeners"].as_array_mut().unwrap().pop();
    gate.folder.write("only.yaml", config.to_string());
    let ran = run_in(&gate.folder, &["health", "--config", "only.yaml"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    ran.says(&[
        "only.yaml: the listener `tls` serves `health` with TLS only",
        "--url",
    ]);
}

#[test]
fn what_makes_no_sense_is_told() {
    let folder = Folder::new();
    let ops =
        r#"{"listeners": [{"name": "hooks", "tcp": "127.0.0.1:1", "serves": ["kubernetes"]}]}"#;
    folder.write("none.yaml", ops);
    folder.write("broken.yaml", "listeners: [");
    folder.write(
        "odd.yaml",
        r#"{"listeners": [{"name": "a", "tcp": "nowhere", "serves": ["health"]}]}"#,
    );
    for (arguments, code, says) in [
        (
            &["--config", "none.yaml"][..],
            3,
            "no listener serves `health`",
        ),
        (&["--config", "broken.yaml"], 3, "broken.yaml:1"),
        (&["--config", "odd.yaml"], 3, "odd.yaml:1:"),
        (&["--config", "missing.yaml"], 3, "missing.yaml"),
        (&[], 3, "portcullis.yaml"),
        (&["--url", "127.0.0.1:1"], 2, "must begin with https://"),
        (
            &["--url", "http://a", "--config", "none.yaml"],
            2,
            "--config",
        ),
        (&["--ca", "ca.crt"], 2, "--url"),
        (
            &["--url", "https://a", "--ca", "missing.crt"],
            3,
            "missing.crt",
        ),
    ] {
        let ran = run_in(&folder, &[&["health"][..], arguments].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.err);
        ran.says(&[says]);
    }
}
