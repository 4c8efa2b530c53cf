//! `forwardToAdmissionController` to controllers that don't answer as they should.

use std::net::TcpListener;

use portcullis_core::HostFunction::ForwardToAdmissionController;
use portcullis_host::{ExternalHost, ForwardRule, HostSettings};
use portcullis_testing::{Pki, Reply, Server};
use serde_json::{Value, json};

use crate::script::Folder;
use crate::support::{call, call_until, forwarding, pod, settings, soon};

const YES: &[u8] = br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u1","allowed":true}}"#;

fn forward(host: &ExternalHost, address: &str) -> Result<Value, String> {
    call(
        host,
        ForwardToAdmissionController,
        &[json!(address)],
        &pod(&["a"]),
    )
}

/// What comes of an answer.
fn answered(reply: Reply) -> (Result<Value, String>, String) {
    let remote = Server::http(move |_| reply.clone());
    let address = format!("http://{}/review", remote.place());
    let result = forward(&forwarding(&[&address]), &address);
    assert_eq!(remote.requests().len(), 1);
    (result, remote.place())
}

fn raw(text: &str) -> Reply {
    Reply::Raw(text.as_bytes().to_vec())
}

#[test]
fn a_plain_yes_is_a_yes() {
    let text = std::str::from_utf8(YES).unwrap();
    for reply in [
        Reply::with("200 OK", "", YES),
        raw(&format!(
            "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{text}",
            YES.len()
        )),
        raw(&format!("HTTP/1.0 200 OK\r\n\r\n{text}")),
        raw(&format!(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nConnection: close\r\n\r\n{text}"
        )),
        raw(&format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{text}\r\n0\r\n\r\n",
            YES.len()
        )),
    ] {
        assert_eq!(answered(reply).0, Ok(json!(true)));
    }
}

#[test]
fn faults_name_the_place_and_the_problem() {
    let large = vec![b' '; (1 << 20) + 1];
    let head = format!("X-Large: {}\r\n", "x".repeat(300_000));
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"response\":{\"allowed\":true}}";
    let cut_chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1d\r\n{\"response\":{\"allowed\":true}}\r\n";
    for (reply, problem) in [
        (
            Reply::with("302 Found", "Location: /elsewhere\r\n", YES),
            "redirects are not followed",
        ),
        (
            Reply::with(
                "307 Temporary Redirect",
                "Location: https://other.example/\r\n",
                YES,
            ),
            "status 307",
        ),
        (
            Reply::with("500 Internal Server Error", "", b"oh no"),
            "status 500: oh no",
        ),
        (Reply::with("403 Forbidden", "", YES), "status 403"),
        (
            Reply::with("204 No Content", "", b""),
            "not an AdmissionReview",
        ),
        (
            Reply::with("200 OK", "", b"<html>"),
            "not an AdmissionReview: <html>",
        ),
        (
            Reply::with("200 OK", "", br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#),
            "holds no response",
        ),
        (
            Reply::with("200 OK", "", br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u2","allowed":true}}"#),
            "uid differs",
        ),
        (
            Reply::with("200 OK", "", br#"{"response":{"uid":"u1","allowed":true}}"#),
            "not an AdmissionReview of apiVersion admission.k8s.io/v1",
        ),
        (
            Reply::with(
                "200 OK",
                "",
                br#"{"response":{"uid":"u1","allowed":"yes"}}"#,
            ),
            "not an AdmissionReview",
        ),
        (Reply::with("200 OK", "", &large), "more than 1048576 bytes"),
        (Reply::with("200 OK", &head, YES), "request failed"),
        (
            Reply::with("200 OK", "Content-Encoding: gzip\r\n", b"\x1f\x8b\x08"),
            "not an AdmissionReview",
        ),
        (raw(cut), "request failed"),
        (raw(cut_chunk), "request failed"),
        (
            raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
            "status 101",
        ),
        (raw("SSH-2.0-OpenSSH\r\n"), "request failed"),
        (raw(""), "request failed"),
    ] {
        let shown = format!("{reply:.100?}");
        let (result, place) = answered(reply);
        let message = result.expect_err(problem);
        assert!(
            message.starts_with(&format!("http://{place}: ")),
            "{message}"
        );
        assert!(
            message.contains(problem),
            "{problem}: {message} {}",
            shown.len()
        );
        assert!(message.chars().count() < 400, "{message}");
    }
}

#[test]
fn an_endless_body_ends() {
    let mut endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    endless.resize(8 << 20, b'x');
    let message = answered(Reply::Raw(endless)).0.unwrap_err();
    assert!(message.contains("more than 1048576 bytes"), "{message}");
}

#[test]
fn a_silent_controller_is_left_at_the_deadline() {
    let folder = Folder::new();
    let path = folder.path("r.sock");
    let unix = Server::unix(&path, |_| Reply::Hang);
    let http = Server::http(|_| Reply::Hang);
    let pki = Pki::new();
    let https = Server::https(&pki.server, |_| Reply::Hang);
    // Nothing accepts here, so there is no handshake.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = [
        path.to_str().unwrap().to_owned(),
        format!("http://{}/", http.place()),
        format!("https://{}/", https.place()),
        format!("https://{}/", mute.local_addr().unwrap()),
    ];
    let host = ExternalHost::new(HostSettings {
        forward_to: ForwardRule::Only(addresses.to_vec()),
        forward_ca: Some(pki.authority.certificate_pem.clone().into_bytes()),
        ..settings()
    })
    .unwrap();
    for address in &addresses {
        let arguments = [json!(address)];
        let result = call_until(
            &host,
            ForwardToAdmissionController,
            &arguments,
            &pod(&["a"]),
            soon(1000),
        );
        assert!(
            result.unwrap_err().contains("before the deadline"),
            "{address}"
        );
    }
    assert!(unix.requests().len() <= 1);
}

#[test]
fn what_is_not_listed_is_not_asked() {
    let pki = Pki::new();
    let remote = Server::https(&pki.server, |_| Reply::with("200 OK", "", YES));
    let place = remote.place();
    let folder = Folder::new();
    let path = folder.path("r.sock");
    let socket = Server::unix(&path, |_| Reply::with("200 OK", "", YES));
    let path = path.to_str().unwrap();
    let host = |entries: &[&str]| {
        ExternalHost::new(HostSettings {
            forward_to: ForwardRule::Only(entries.iter().map(|e| (*e).to_owned()).collect()),
            forward_ca: Some(pki.authority.certificate_pem.clone().into_bytes()),
            ..settings()
        })
        .unwrap()
    };
    let listed = format!("https://{place}/public/*");
    for (entries, address) in [
        (vec![], format!("https://{place}/review")),
        (vec![], path.to_owned()),
        (vec![listed.as_str()], format!("https://{place}/review")),
        (vec![&listed], format!("https://{place}/public/../review")),
        (
            vec![&listed],
            format!("https://{place}/public/%2e%2e/review"),
        ),
        (vec![&listed], format!("https://{place}/public/a/b")),
        (vec![&listed], format!("https://{place}/public\\..\\review")),
        (vec![&listed], format!("https://user@{place}/public/x")),
        (vec![&listed], format!("http://{place}/public/x")),
        (vec![&listed], path.to_owned()),
        (vec!["/run/*"], format!("/run/../{path}")),
        (
            vec!["https://*.example.com/**"],
            format!("https://{place}/?x=.example.com/"),
        ),
    ] {
        let message = forward(&host(&entries), &address);
        assert!(message.is_err(), "{entries:?} {address}: {message:?}");
    }
    for odd in [
        json!(null),
        json!(1),
        json!(""),
        json!("ftp://h/"),
        json!(["https://h/"]),
    ] {
        let anywhere = ExternalHost::new(HostSettings {
            forward_to: ForwardRule::Anywhere,
            ..settings()
        });
        let result = call(
            &anywhere.unwrap(),
            ForwardToAdmissionController,
            &[odd],
            &pod(&["a"]),
        );
        assert!(result.is_err());
    }
    assert!(remote.requests().is_empty());
    assert!(socket.requests().is_empty());
    let message = forward(&host(&[]), &format!("https://{place}/secret?token=x")).unwrap_err();
    assert_eq!(
        message,
        format!("https://{place}: this address is not listed in hostCalls.forwardTo")
    );
}

#[test]
fn strangers_are_not_believed() {
    let (pki, other, misnamed) = (Pki::new(), Pki::new(), Pki::of(&["other.example"]));
    let rule = ForwardRule::Anywhere;
    for (server, authority) in [
        (&pki, Some(&other)),
        (&pki, None),
        (&misnamed, Some(&misnamed)),
    ] {
        let remote = Server::https(&server.server, |_| Reply::with("200 OK", "", YES));
        let host = ExternalHost::new(HostSettings {
            forward_to: rule.clone(),
            forward_ca: authority.map(|pki| pki.authority.certificate_pem.clone().into_bytes()),
            ..settings()
        })
        .unwrap();
        let message = forward(&host, &format!("https://{}/", remote.place())).unwrap_err();
        assert!(
            message.contains("TLS failed") || message.contains("no trusted CA certificates"),
            "{message}"
        );
        assert!(remote.requests().is_empty());
    }
}

#[test]
fn nobody_there() {
    let folder = Folder::new();
    let path = folder.path("nobody.sock");
    let path = path.to_str().unwrap();
    let message = forward(&forwarding(&[path]), path).unwrap_err();
    assert!(
        message.starts_with(&format!("unix://{path}: can't connect")),
        "{message}"
    );
    let long = format!("/{}", "x".repeat(200));
    assert!(forward(&forwarding(&[&long]), &long).is_err());
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let address = format!("http://{closed}/");
    let message = forward(&forwarding(&[&address]), &address).unwrap_err();
    assert!(message.contains("can't connect"), "{message}");
}

#[test]
fn settings_that_can_not_be_used() {
    let error = ExternalHost::new(HostSettings {
        forward_to: ForwardRule::Only(vec!["/run/x.sock".to_owned(), "ftp://x".to_owned()]),
        forward_ca: Some(
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec(),
        ),
        ..settings()
    })
    .unwrap_err();
    let keys: Vec<_> = error.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(keys, ["forwardTo[1]", "forwardCA"]);
    assert!(error.to_string().starts_with("forwardTo[1]: "));
}
