//! Requests that web pages make: other sites are rejected.

use serde_json::json;

use super::{plain, socket};
use crate::harness::tls::careless;
use crate::harness::{Answer, Connection, Gate, Pki, Review, Setup, chain, pod, request};

fn send(connection: &mut Connection, path: &str, headers: &[(&str, &str)]) -> Answer {
    let body = Review::create(&pod()).text();
    let bytes = request("POST", path, headers, body.as_bytes());
    connection.send(&bytes).unwrap();
    connection.receive().unwrap()
}

#[test]
fn webhooks_take_nothing_that_a_page_of_another_site_sends() {
    let mut config = chain(&["AlwaysAdmit"]);
    config["listeners"] = json!([socket("local", "0600")]);
    config["authorization"] = json!({"chains": {"default": ["AlwaysAllow"]}});
    let gate = Gate::start(config);
    let mut connection = Connection::tcp(gate.port).unwrap();
    for path in ["/validate", "/mutate/x", "/admit", "/authorize"] {
        for headers in [
            [("Sec-Fetch-Site", "cross-site")],
            [("Sec-Fetch-Site", "same-site")],
            [("Origin", "https://evil.example")],
            [("Origin", "null")],
        ] {
            let (error, _) = send(&mut connection, path, &headers).error(403);
            assert_eq!(error["code"], "cross_site", "{path} {headers:?}");
        }
    }
    let own = [
        ("Origin", "http://localhost"),
        ("Sec-Fetch-Site", "same-origin"),
    ];
    assert_eq!(send(&mut connection, "/validate", &own).status, 200);
    let other_type = [("Content-Type", "text/plain")];
    send(&mut connection, "/validate", &other_type).error(415);
    // No page reaches a socket.
    let mut local = Connection::unix(&gate.folder.path("local.sock")).unwrap();
    let foreign = [("Origin", "https://evil.example")];
    assert_eq!(send(&mut local, "/validate", &foreign).status, 200);
}

#[test]
fn a_certificate_changes_nothing_for_another_site() {
    let pki = Pki::new();
    let (port, mut listener) = plain("certified", &["api"]);
    listener["tls"] = json!({"certificate": "tls.crt", "key": "tls.key", "clientCA": "ca.crt"});
    let tenants = json!([
        {"authorization-rule": {"name": "kim", "conditions":
            [{"iss": "client-certificate", "preferred_username": "client"}]}},
        {"tenant": {"name": "t1", "role-mappings": {"kim": "admin"}}},
    ]);
    let mut config = json!({"listeners": [listener], "tenants": {"file": "tenants.yaml"}});
    config["authenticators"] = json!([{"name": "certs", "driver": "ClientCertificate"}]);
    let _gate = Setup::new(config)
        .file("tenants.yaml", tenants.to_string())
        .file("tls.crt", &pki.server.certificate_pem)
        .file("tls.key", &pki.server.key_pem)
        .file("ca.crt", &pki.authority.certificate_pem)
        .start();
    let mut connection = Connection::tls(port, &pki.client(Some(&pki.client))).unwrap();
    let mut pause = |headers: &[(&str, &str)]| {
        let bytes = request(
            "POST",
            "/api/tenant/t1/state",
            headers,
            br#"{"trigger_queue_paused": true}"#,
        );
        connection.send(&bytes).unwrap();
        connection.receive().unwrap()
    };
    for origin in [
        "https://evil.example",
        "null",
        "https://localhost.evil.example",
    ] {
        let (error, _) = pause(&[("Origin", origin)]).error(403);
        assert_eq!(error["code"], "csrf", "{origin}");
    }
    pause(&[("Sec-Fetch-Site", "cross-site")]).error(403);
    assert_eq!(pause(&[]).status, 200);
    let strict = pause(&[("Origin", "https://localhost")]);
    assert_eq!(strict.status, 200);
    assert_eq!(strict.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(
        strict.header("strict-transport-security"),
        Some("max-age=31536000")
    );
}

#[test]
fn answers_are_not_to_be_guessed_at() {
    let (port, api) = plain("api", &["api"]);
    let (dev_port, mut dev) = plain("dev", &["api"]);
    dev["tls"] = json!({"development": true});
    let mut config = chain(&["AlwaysAdmit"]);
    config["listeners"] = json!([api, dev]);
    let gate = Gate::start(config);
    for (port, path) in [
        (gate.port, "/livez"),
        (gate.port, "/readyz?verbose"),
        (gate.port, "/metrics"),
        (gate.port, "/nothing"),
        (port, "/api/info"),
        (port, "/openapi.json"),
        (port, "/docs"),
        (port, "/api/v1/decisions"),
    ] {
        let mut connection = Connection::tcp(port).unwrap();
        let answer = connection.ask("GET", path, b"").unwrap();
        assert_eq!(
            answer.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
        assert_eq!(answer.header("strict-transport-security"), None, "{path}");
    }
    // Browsers would never ask another port of `localhost` without TLS again.
    let mut connection = Connection::tls(dev_port, &careless()).unwrap();
    let answer = connection.ask("GET", "/api/info", b"").unwrap();
    assert_eq!(answer.header("strict-transport-security"), None);
}
