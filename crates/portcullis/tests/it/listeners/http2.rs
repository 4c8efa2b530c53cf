//! HTTP/2, requested by curl: an independent client.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::encrypted;
use crate::harness::{Gate, Pki, Review, Setup, chain, pod};

/// Whether curl is there and speaks HTTP/2; says so if not.
fn can_ask() -> bool {
    let version = Command::new("curl").arg("-V").output();
    let can = version.is_ok_and(|v| String::from_utf8_lossy(&v.stdout).contains("HTTP2"));
    if !can {
        eprintln!("skipped: there is no curl that speaks HTTP/2");
    }
    can
}

/// The version spoken, the status, and the answer.
fn curl(arguments: &[&str], body: &str) -> (String, Value) {
    let mut child = Command::new("curl")
        .args([
            "-sS",
            "--max-time",
            "30",
            "-w",
            "\n%{http_version} %{http_code}",
        ])
        .args(["-H", "Content-Type: application/json"])
        .args(if body.is_empty() {
            &[][..]
        } else {
            &["--data-binary", "@-"]
        })
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(body.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "curl: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let (answer, tail) = text.rsplit_once('\n').unwrap();
    (tail.to_owned(), serde_json::from_str(answer).unwrap())
}

#[test]
fn http_2_is_spoken_over_tls_to_those_who_want_it() {
    if !can_ask() {
        return;
    }
    let pki = Pki::new();
    let (port, listener) = encrypted("tls", &json!({"certificate": "tls.crt", "key": "tls.key"}));
    let mut config = chain(&["AlwaysAdmit"]);
    config["listeners"] = json!([listener]);
    let gate = Setup::new(config)
        .file("tls.crt", &pki.server.certificate_pem)
        .file("tls.key", &pki.server.key_pem)
        .file("ca.crt", &pki.authority.certificate_pem)
        .start();
    let (url, authority) = (
        format!("https://127.0.0.1:{port}/validate"),
        gate.folder.text("ca.crt"),
    );
    for (flag, expected) in [("--http2", "2 200"), ("--http1.1", "1.1 200")] {
        let (spoken, answer) = curl(
            &[flag, "--cacert", &authority, &url],
            &Review::create(&pod()).text(),
        );
        assert_eq!(spoken, expected);
        assert_eq!(answer["response"]["allowed"], true);
    }
}

#[test]
fn http_2_is_spoken_in_the_clear_to_those_who_know() {
    if !can_ask() {
        return;
    }
    let mut config = chain(&["AlwaysDeny"]);
    config["limits"] = json!({"headers": "8Ki"});
    let mut gate = Gate::start(config);
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", gate.port);
    let knowing = "--http2-prior-knowledge";
    let (spoken, answer) = curl(
        &[knowing, &url("/validate")],
        &Review::create(&pod()).text(),
    );
    assert_eq!(spoken, "2 200");
    assert_eq!(answer["response"]["allowed"], false);
    let (spoken, answer) = curl(&[knowing, &url("/validate")], "{");
    assert_eq!(spoken, "2 400");
    assert!(
        answer["error"]["message"].is_string() && answer["request_id"].is_string(),
        "{answer}"
    );
    for (path, status) in [("/nope", "2 404"), ("/validate", "2 405")] {
        let (spoken, answer) = curl(&[knowing, &url(path)], "");
        assert_eq!(spoken, status);
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    let (spoken, _) = curl(&[knowing, &url("/validate")], &" ".repeat(4 << 20));
    assert_eq!(spoken, "2 413");
    let long = format!("X-Long: {}", "a".repeat(12_000));
    let (spoken, answer) = curl(&[knowing, "-H", &long, &url("/livez")], "");
    assert_eq!(spoken, "2 431");
    assert!(answer["error"]["message"].is_string(), "{answer}");
    gate.lives();
}
