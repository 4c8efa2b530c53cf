//! Connections: how many each listener and client gets, and how long they last.

use serde_json::{Value, json};

use super::{plain, socket};
use crate::harness::{Connection, Gate, Pki, Review, Setup, Verdict, chain, pod, until};

/// A gate with these limits and a listener for the API.
fn gate(limits: &Value, more: &Value) -> (Gate, u16) {
    let (port, mut listener) = plain("api", &["api"]);
    for (key, value) in more.as_object().unwrap() {
        listener[key] = value.clone();
    }
    let mut config = chain(&["AlwaysAdmit"]);
    config["limits"] = limits.clone();
    config["listeners"] = json!([listener, socket("local", "0600")]);
    (Gate::start(config), port)
}

fn ask(connection: &mut Connection) -> u16 {
    connection.ask("GET", "/api/info", b"").unwrap().status
}

/// Opens connections that stay.
fn flood(port: u16, count: usize) -> Vec<Connection> {
    let mut open: Vec<Connection> = (0..count).map(|_| Connection::tcp(port).unwrap()).collect();
    open.iter_mut().for_each(|one| assert_eq!(ask(one), 200));
    open
}

#[test]
fn a_full_listener_starves_no_other() {
    let (gate, port) = gate(&json!({"connections": 24}), &json!({}));
    // Three listeners: 4 are reserved for each, 12 are first come, first served.
    let _held = flood(port, 16);
    let mut waiting = Connection::tcp(port).unwrap();
    waiting
        .send(b"GET /api/info HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    for _ in 0..4 {
        assert_eq!(gate.get("/livez").status, 200);
        gate.validate(&pod()).allowed();
        let review = Review::create(&pod());
        let mut local = Connection::unix(&gate.folder.path("local.sock")).unwrap();
        let answer = local.post("/validate", &review.value()).unwrap();
        Verdict::of(&answer, &review).allowed();
    }
    drop(_held);
    assert_eq!(waiting.receive().unwrap().status, 200);
}

#[test]
fn a_listener_may_have_fewer() {
    let (gate, port) = gate(&json!({}), &json!({"connections": 2}));
    let held = flood(port, 2);
    let mut waiting = Connection::tcp(port).unwrap();
    waiting
        .send(b"GET /api/info HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    for _ in 0..20 {
        let open = gate
            .metrics()
            .total("portcullis_connections", &[("listener", "api")]);
        assert!(open <= 2.0, "{open}");
    }
    drop(held);
    assert_eq!(waiting.receive().unwrap().status, 200);
}

#[test]
fn an_address_with_too_many_connections_is_told() {
    let (gate, port) = gate(&json!({"connectionsPerAddress": 3}), &json!({}));
    let mut held = flood(port, 3);
    let mut one_more = Connection::tcp(port).unwrap();
    let (error, _) = one_more.receive().unwrap().error(429);
    assert_eq!(error["code"], "too_many_connections");
    // At another listener, and on those that are open, nothing changes.
    assert_eq!(gate.get("/livez").status, 200);
    assert_eq!(ask(&mut held[0]), 200);
    let refused = gate.metrics().total(
        "portcullis_http_errors_total",
        &[("code", "too_many_connections")],
    );
    assert!((refused - 1.0).abs() < f64::EPSILON, "{refused}");
    held.pop();
    until("there is room again", || {
        let mut connection = Connection::tcp(port).unwrap();
        connection
            .ask("GET", "/api/info", b"")
            .is_ok_and(|answer| answer.status == 200)
    });
    // Sockets have no address.
    let mut local: Vec<_> = (0..6)
        .map(|_| Connection::unix(&gate.folder.path("local.sock")).unwrap())
        .collect();
    for connection in &mut local {
        assert_eq!(connection.ask("GET", "/livez", b"").unwrap().status, 200);
    }
}

#[test]
fn an_old_connection_ends_with_an_answer() {
    let (gate, port) = gate(&json!({"maxConnectionAge": "1s"}), &json!({}));
    let mut connection = Connection::tcp(port).unwrap();
    let last = loop {
        let answer = connection.ask("GET", "/api/info", b"").unwrap();
        assert_eq!(answer.status, 200);
        if answer.header("connection").is_some() {
            break answer;
        }
    };
    assert_eq!(last.header("connection"), Some("close"));
    assert_eq!(connection.rest(), Some(Vec::new()));
    drop(gate);
}

#[test]
fn the_other_protocol_is_answered_with_a_word() {
    let pki = Pki::new();
    let (port, mut listener) = plain("tls", &["kubernetes"]);
    listener["tls"] = json!({"certificate": "tls.crt", "key": "tls.key"});
    let mut config = chain(&["AlwaysAdmit"]);
    config["listeners"] = json!([listener]);
    let setup = Setup::new(config).file("tls.crt", &pki.server.certificate_pem);
    let gate = setup.file("tls.key", &pki.server.key_pem).start();
    let mut connection = Connection::tcp(port).unwrap();
    let (error, _) = connection.ask("GET", "/livez", b"").unwrap().error(400);
    assert_eq!(
        error["message"],
        "client sent an HTTP request to an HTTPS server"
    );
    let mut connection = Connection::tcp(gate.port).unwrap();
    connection.send(b"\x16\x03\x01\x00\x05hello").unwrap();
    let (error, _) = connection.receive().unwrap().error(400);
    assert_eq!(
        error["message"],
        "client sent a TLS handshake to an HTTP server"
    );
}
