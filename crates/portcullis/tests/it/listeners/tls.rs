//! TLS, mTLS and the development certificate.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use rustls::ClientConfig;
use serde_json::{Value, json};

use super::encrypted;
use crate::harness::{
    Client, Connection, Gate, Pki, Review, Setup, Verdict, chain, pod, request, tls,
};

fn files() -> Value {
    json!({"certificate": "tls.crt", "key": "tls.key"})
}

/// A gate with this TLS beside its plain listener.
fn gate_with(pki: &Pki, tls: &Value) -> (Gate, u16) {
    let (port, listener) = encrypted("tls", tls);
    let mut config = chain(&["AlwaysPullImages"]);
    config["listeners"] = json!([listener]);
    let gate = Setup::new(config)
        .file("tls.crt", &pki.server.certificate_pem)
        .file("tls.key", &pki.server.key_pem)
        .file("ca.crt", &pki.authority.certificate_pem)
        .start();
    (gate, port)
}

fn asked(port: u16, client: &Arc<ClientConfig>) -> std::io::Result<Verdict> {
    let review = Review::create(&pod());
    let answer = Connection::tls(port, client)?.post("/mutate", &review.value())?;
    Ok(Verdict::of(&answer, &review))
}

#[test]
fn both_versions_of_tls_are_spoken() {
    let pki = Pki::new();
    let (_gate, port) = gate_with(&pki, &files());
    for version in tls::VERSIONS {
        let verdict = asked(port, &pki.client_of(None, &[version])).unwrap();
        assert!(verdict.patch().is_some(), "{version:?}");
    }
}

#[test]
fn older_versions_are_refused() {
    let pki = Pki::new();
    let (mut gate, port) = gate_with(&pki, &files());
    for (name, version) in [("SSL 3.0", 0_u8), ("TLS 1.0", 1), ("TLS 1.1", 2)] {
        let answer = first_bytes(port, &client_hello(version));
        // A fatal alert: protocol version, or handshake failure.
        assert!(
            matches!(answer.as_slice(), [0x15, 3, _, 0, 2, 2, 70 | 40]),
            "{name} was answered with {answer:x?}"
        );
    }
    gate.lives();
    assert!(asked(port, &pki.client(None)).is_ok());
}

/// The first message of a client that speaks at most version 3.`minor`, without extensions.
fn client_hello(minor: u8) -> Vec<u8> {
    let mut body = vec![3, minor];
    body.extend([7; 32]);
    body.extend([
        0, 0, 8, 0xc0, 0x13, 0xc0, 0x14, 0x00, 0x2f, 0x00, 0x35, 1, 0,
    ]);
    let length = u8::try_from(body.len()).unwrap();
    let handshake = [&[1, 0, 0, length][..], &body].concat();
    [&[0x16, 3, 1, 0, length + 4][..], &handshake].concat()
}

fn first_bytes(port: u16, hello: &[u8]) -> Vec<u8> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(crate::harness::PATIENCE))
        .unwrap();
    stream.write_all(hello).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn client_certificates_must_come_from_the_authority_and_be_valid() {
    let pki = Pki::new();
    let mut tls = files();
    tls["clientCA"] = json!("ca.crt");
    let (gate, port) = gate_with(&pki, &tls);
    for version in tls::VERSIONS {
        let client = |identity| pki.client_of(identity, &[version]);
        asked(port, &client(Some(&pki.client))).unwrap().allowed();
        let wrong = [
            ("none", None),
            ("a stranger's", Some(&pki.stranger)),
            ("an expired one", Some(&pki.expired)),
            ("a server's", Some(&pki.server)),
        ];
        for (who, identity) in wrong {
            assert!(asked(port, &client(identity)).is_err(), "{who} was let in");
        }
        asked(port, &client(Some(&pki.client))).unwrap().allowed();
    }
    drop(gate);
}

#[test]
fn a_gate_that_is_not_in_the_certificate_is_not_trusted() {
    // The client's own care: shows that these tests would notice another certificate.
    let (_gate, port) = gate_with(&Pki::new(), &files());
    assert!(asked(port, &Pki::new().client(None)).is_err());
}

#[test]
fn the_development_certificate_is_made_once_and_trusted_by_itself() {
    let (port, listener) = encrypted("dev", &json!({"development": true}));
    let mut config = chain(&["AlwaysPullImages"]);
    config["listeners"] = json!([listener]);
    let folder = crate::harness::Folder::new();
    let data = folder.text("data");
    let mut shown = Vec::new();
    for _ in 0..2 {
        let gate = Setup::new(config.clone()).data_dir(data.clone()).start();
        asked(port, &tls::careless()).unwrap().allowed();
        shown.push(tls::shown_at(port).unwrap());
        drop(gate);
    }
    assert_eq!(shown[0], shown[1], "the certificate was made again");
    let key = std::fs::metadata(folder.path("data/development/tls.key")).unwrap();
    assert_eq!(
        key.permissions().mode() & 0o777,
        0o600,
        "others can read the key"
    );
}

#[test]
fn plain_http_on_a_tls_port_gets_a_word() {
    let pki = Pki::new();
    let (mut gate, port) = gate_with(&pki, &files());
    let body = Review::create(&pod()).text();
    for bytes in [
        request("POST", "/validate", &[], body.as_bytes()),
        b"\x00".to_vec(),
        vec![0xff; 5000],
    ] {
        let answer = Client::tcp(port).raw_then_close(&bytes).expect("no word");
        let (error, _) = answer.error(400);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("HTTP request to an HTTPS server"),
            "{error}"
        );
    }
    asked(port, &pki.client(None)).unwrap().allowed();
    gate.lives();
}

#[test]
fn tls_on_a_plain_port_gets_a_word() {
    let mut gate = Gate::of(&["AlwaysAdmit"]);
    assert!(Connection::tls(gate.port, &tls::careless()).is_err());
    let answer = gate.raw(&client_hello(3)).expect("no word");
    let (error, _) = answer.error(400);
    assert!(
        error["message"].as_str().unwrap().contains("TLS"),
        "{error}"
    );
    gate.lives();
}

#[test]
fn a_certificate_without_its_key_is_refused_at_the_start() {
    let pki = Pki::new();
    let folder = crate::harness::Folder::new();
    let (_, listener) = encrypted("tls", &files());
    folder.write(
        "portcullis.yaml",
        json!({"listeners": [listener]}).to_string(),
    );
    folder.write("tls.crt", &pki.server.certificate_pem);
    for (key, needle) in [
        (pki.second_server.key_pem.as_str(), "do not match"),
        ("no key\n", "tls.key"),
        ("", "tls.key"),
    ] {
        folder.write("tls.key", key);
        for command in ["check", "serve"] {
            let ran = crate::harness::run_in(&folder, &[command, "--config", "portcullis.yaml"]);
            assert_eq!(ran.code, Some(3), "{}", ran.err);
            ran.says(&["portcullis.yaml", needle]);
        }
    }
}
