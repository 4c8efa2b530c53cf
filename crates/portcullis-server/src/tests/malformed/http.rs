//! Requests that break the rules or the limits of HTTP.

use std::collections::HashSet;
use std::io::Write as _;

use serde_json::json;

use crate::tests::harness::{Gate, Review, access, pod, request};

const MIB: usize = 1 << 20;

pub(super) fn good() -> Vec<u8> {
    Review::create(&pod()).text().into_bytes()
}

pub(super) fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = request(
        "POST",
        "/validate",
        &[("Transfer-Encoding", "chunked")],
        b"",
    );
    for chunk in body.chunks(size) {
        write!(bytes, "{:x}\r\n", chunk.len()).unwrap();
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[test]
fn every_error_has_one_shape_and_an_id_of_its_own() {
    let config = json!({"authorization": {"chains": {"open": ["AlwaysAllow"]}}});
    let gate = Gate::start(config);
    let mut ids = HashSet::new();
    for (status, method, path, kind, body) in [
        (404, "POST", "/nope", "application/json", good()),
        (404, "GET", "/", "", Vec::new()),
        (404, "POST", "/Validate", "application/json", good()),
        (404, "POST", "//validate", "application/json", good()),
        (400, "POST", "/validate", "application/json", b"{".to_vec()),
        (405, "GET", "/mutate", "", Vec::new()),
        (405, "PUT", "/validate", "application/json", good()),
        (405, "DELETE", "/admit", "", Vec::new()),
        (415, "POST", "/admit", "text/plain", good()),
        (415, "POST", "/validate", "application/yaml", good()),
        (
            415,
            "POST",
            "/validate",
            "application/x-www-form-urlencoded",
            good(),
        ),
        (404, "POST", "/authorize/nope", "application/json", good()),
        (
            400,
            "POST",
            "/authorize/open",
            "application/json",
            b"{".to_vec(),
        ),
        (405, "GET", "/authorize/open", "", Vec::new()),
        (405, "POST", "/metrics", "application/json", b"{}".to_vec()),
        (405, "POST", "/livez", "application/json", b"{}".to_vec()),
        (
            413,
            "POST",
            "/validate",
            "application/json",
            vec![b' '; 4 * MIB],
        ),
    ] {
        let length = body.len().to_string();
        let headers = [("Content-Type", kind), ("Content-Length", length.as_str())];
        let answer = gate
            .raw(&request(method, path, &headers, &body))
            .expect("dropped");
        let (_, id) = answer.error(status);
        assert!(ids.insert(id), "{method} {path}: a request_id again");
        if status == 405 {
            assert!(
                answer.header("allow").is_some(),
                "{method} {path} does not say what it takes"
            );
        }
    }
}

#[test]
fn a_compressed_body_is_not_taken() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let bytes = request(
        "POST",
        "/validate",
        &[("Content-Encoding", "gzip")],
        &good(),
    );
    gate.raw(&bytes).unwrap().error(415);
}

#[test]
fn content_types_with_parameters_and_other_case_are_taken() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    for kind in [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;charset=UTF-8",
    ] {
        let answer = gate.raw(&request(
            "POST",
            "/validate",
            &[("Content-Type", kind)],
            &good(),
        ));
        assert_eq!(answer.unwrap().status, 200, "{kind}");
    }
}

#[test]
fn a_client_that_asks_first_is_told_to_go_on() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let body = good();
    let length = body.len().to_string();
    let headers = [
        ("Content-Length", length.as_str()),
        ("Expect", "100-continue"),
    ];
    let mut connection = gate.connect();
    connection
        .send(&request("POST", "/validate", &headers, b""))
        .unwrap();
    assert_eq!(connection.receive().unwrap().status, 100);
    connection.send(&body).unwrap();
    assert_eq!(connection.receive().unwrap().status, 200);
}

#[test]
fn half_a_request_and_then_the_end_is_never_an_allow() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let whole = request("POST", "/validate", &[], &good());
    let chunks = chunked(&good(), 100);
    let halves = [
        &whole[..whole.len() - 50],
        &whole[..whole.len() - 1],
        &whole[..60],
        &chunks[..chunks.len() - 5],
        &chunks[..chunks.len() / 2],
        b"POST",
        b"P",
        b"PRI ",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\r\n\r\n\r\n",
        b"",
    ];
    for half in halves {
        if let Some(answer) = gate.raw_then_close(half) {
            let text = String::from_utf8_lossy(half);
            assert!(
                answer.status >= 400 && !answer.is_allow(),
                "{text}: {answer:?}"
            );
        }
    }
    gate.judges();
}

#[test]
fn garbage_is_400_in_the_same_shape() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let conflicting = [("Content-Length", "3"), ("Content-Length", "5")];
    for garbage in [
        b"GARBAGE\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"POST /validate HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /livez HTTP/1.1\r\nbad header\r\n\r\n".to_vec(),
        b"GET /livez HTTP/1.1\r\nna me: x\r\n\r\n".to_vec(),
        b"\x00\x01\x02\x03\r\n\r\n".to_vec(),
        request("POST", "/validate", &conflicting, b"12345"),
        request("POST", "/validate", &[("Content-Length", "-1")], b""),
        request("POST", "/validate", &[("Transfer-Encoding", "rot13")], b""),
    ] {
        let text = String::from_utf8_lossy(&garbage).into_owned();
        let answer = gate
            .raw_then_close(&garbage)
            .unwrap_or_else(|| panic!("dropped: {text}"));
        assert_eq!(answer.status, 400, "{text}: {answer:?}");
        assert!(!answer.is_allow());
        if answer.body.is_empty() {
            panic!("an error without a body for {text:?}: {answer:?}");
        }
        answer.error(400);
    }
    gate.judges();
}

#[test]
fn broken_chunks_are_never_an_allow() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let head = request(
        "POST",
        "/validate",
        &[("Transfer-Encoding", "chunked")],
        b"",
    );
    for rest in [
        &b"zz\r\n{}\r\n0\r\n\r\n"[..],
        b"-1\r\n\r\n",
        b"ffffffffffffffffff\r\n",
        b"5\r\n{}\r\n0\r\n\r\n",
    ] {
        let answer = gate
            .raw_then_close(&[&head, rest].concat())
            .expect("dropped");
        answer.error(400);
    }
    gate.judges();
}

#[test]
fn two_lengths_of_one_body_let_no_second_request_in() {
    // With both a length and chunks, chunks count; what follows must not become a request.
    let gate = Gate::of(&["AlwaysAdmit"]);
    let headers = [("Content-Length", "4"), ("Transfer-Encoding", "chunked")];
    let smuggled = request("GET", "/livez", &[], b"");
    let bytes = [
        request("POST", "/validate", &headers, b"0\r\n\r\n"),
        smuggled,
    ]
    .concat();
    let answer = gate.raw(&bytes).expect("dropped");
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(!answer.is_allow());
    gate.judges();
}

#[test]
fn two_authorization_headers_are_400() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let headers = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")];
    let answer = gate
        .raw(&request("POST", "/validate", &headers, &good()))
        .expect("dropped");
    answer.error(400);
    let one = request("POST", "/validate", &headers[..1], &good());
    assert_eq!(gate.raw(&one).expect("dropped").status, 200);
}

#[test]
fn rare_but_proper_forms_of_requests_are_understood() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let body = good();
    let whole = String::from_utf8(request("POST", "/validate", &[], &body)).unwrap();
    for (form, status) in [
        (whole.replacen("HTTP/1.1", "HTTP/1.0", 1), 200),
        (
            whole.replacen("/validate", "http://localhost/validate", 1),
            200,
        ),
        (
            whole.replacen("/validate", "/validate?timeout=10s&x=%00", 1),
            200,
        ),
        (whole.replacen("Host: localhost", "hOST:localhost", 1), 200),
        (format!("\r\n{whole}"), 200),
        ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), 404),
        (
            "OPTIONS /validate HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
            405,
        ),
        (
            "CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
            404,
        ),
    ] {
        let answer = gate
            .raw(form.as_bytes())
            .unwrap_or_else(|| panic!("dropped: {form}"));
        assert_eq!(answer.status, status, "{form}: {}", answer.text());
    }
    gate.judges();
}

#[test]
fn errors_never_allow_at_the_access_door_either() {
    let gate = Gate::start(json!({"authorization": {"chains": {"default": ["AlwaysAllow"]}}}));
    let good = access("v1", "alice", &[], &json!({})).to_string();
    for body in [
        good.strip_suffix('}').unwrap(),
        &format!("{good} x"),
        &good.replacen("\"user\"", "\"user\":1,\"user\"", 1),
    ] {
        gate.post_bytes("/authorize", body.as_bytes()).error(400);
    }
}
