//! Slow clients and too many of them.

use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use serde_json::{Value, json};

use super::plain;
use crate::harness::{Connection, Gate, Pki, Review, Setup, Verdict, chain, pod, request, until};

fn limited(limits: Value) -> Gate {
    let mut config = chain(&["AlwaysAdmit"]);
    config["limits"] = limits;
    Gate::start(config)
}

fn whole() -> Vec<u8> {
    request(
        "POST",
        "/validate",
        &[],
        Review::create(&pod()).text().as_bytes(),
    )
}

#[track_caller]
fn is_served(connection: &mut Connection) {
    let review = Review::create(&pod());
    let answer = connection
        .post("/validate", &review.value())
        .expect("no answer");
    Verdict::of(&answer, &review).allowed();
}

#[test]
fn a_head_that_does_not_come_is_408() {
    let gate = limited(json!({"headerTimeout": "1s"}));
    // Nothing at all, the begin of a word, half a head, nearly all of it.
    let nearly = b"POST /validate HTTP/1.1\r\nHost: localhost\r\n";
    let begun = [&b""[..], b"P", b"POST /validate HT", nearly].map(|begin| {
        let mut connection = gate.connect();
        connection.send(begin).unwrap();
        connection
    });
    for mut connection in begun {
        connection.receive().expect("dropped").error(408);
        assert_eq!(connection.rest(), Some(Vec::new()));
    }
}

#[test]
fn a_head_that_comes_byte_by_byte_is_408() {
    let gate = limited(json!({"headerTimeout": "1s"}));
    let mut connection = Connection::tcp(gate.port).unwrap();
    let endless = b"GET /livez HTTP/1.1\r\nx-endless: "
        .iter()
        .chain(std::iter::repeat(&b'a'));
    let watch = Stopwatch::start();
    for byte in endless {
        // An error is as good: the gate has had enough.
        if connection.send(&[*byte]).is_err() || watch.elapsed() > Duration::from_secs(3) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    connection.receive().expect("dropped").error(408);
}

#[test]
fn the_second_head_on_a_connection_has_a_limit_too() {
    let gate = limited(json!({"headerTimeout": "1s"}));
    let mut connection = Connection::tcp(gate.port).unwrap();
    is_served(&mut connection);
    connection.send(b"POST /valid").unwrap();
    connection.receive().expect("dropped").error(408);
}

#[test]
fn a_body_that_does_not_come_is_408() {
    let gate = limited(json!({"bodyTimeout": "1s"}));
    let whole = whole();
    let length = Review::create(&pod()).text().len();
    for sent in [whole.len() - length, whole.len() - 100] {
        let mut connection = Connection::tcp(gate.port).unwrap();
        connection.send(&whole[..sent]).unwrap();
        connection.receive().expect("dropped").error(408);
    }
    let mut connection = Connection::tcp(gate.port).unwrap();
    connection
        .send(&request(
            "POST",
            "/validate",
            &[("Transfer-Encoding", "chunked")],
            b"5\r\n{",
        ))
        .unwrap();
    connection.receive().expect("dropped").error(408);
}

#[test]
fn a_slow_client_within_the_limits_is_served() {
    let gate = limited(json!({"headerTimeout": "20s", "bodyTimeout": "20s"}));
    let mut connection = Connection::tcp(gate.port).unwrap();
    for piece in whole().chunks(200) {
        connection.send(piece).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(connection.receive().unwrap().is_allow());
}

#[test]
fn a_connection_at_rest_outlives_the_time_for_a_head() {
    let gate = limited(json!({"headerTimeout": "1s", "bodyTimeout": "1s"}));
    let mut connection = Connection::tcp(gate.port).unwrap();
    is_served(&mut connection);
    // Here only time can show it.
    std::thread::sleep(Duration::from_millis(3500));
    is_served(&mut connection);
}

#[test]
fn a_connection_at_rest_for_too_long_is_closed() {
    let gate = limited(json!({"idleTimeout": "1s"}));
    let mut connection = Connection::tcp(gate.port).unwrap();
    is_served(&mut connection);
    assert_eq!(connection.rest(), Some(Vec::new()));
}

#[test]
fn a_handshake_that_does_not_come_is_given_up() {
    let pki = Pki::new();
    let (port, mut listener) = plain("tls", &["kubernetes"]);
    listener["tls"] = json!({"certificate": "tls.crt", "key": "tls.key"});
    let mut config = chain(&["AlwaysAdmit"]);
    config["limits"] = json!({"headerTimeout": "1s"});
    config["listeners"] = json!([listener]);
    let setup = Setup::new(config).file("tls.crt", &pki.server.certificate_pem);
    let _gate = setup.file("tls.key", &pki.server.key_pem).start();
    for begin in [&b""[..], b"\x16\x03\x01\x02\x00"] {
        let mut connection = Connection::tcp(port).unwrap();
        connection.send(begin).unwrap();
        assert!(connection.rest().is_some(), "still open");
    }
    // After the handshake, the head has its time.
    let mut connection = Connection::tls(port, &pki.client(None)).unwrap();
    connection.send(b"POST /valid").unwrap();
    connection.receive().expect("dropped").error(408);
}

#[test]
fn http_2_that_stops_after_its_first_bytes_is_given_up() {
    let gate = limited(json!({"headerTimeout": "1s", "idleTimeout": "2s"}));
    for begin in [&b"PRI "[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut connection = Connection::tcp(gate.port).unwrap();
        connection.send(begin).unwrap();
        connection.patience(Duration::from_secs(10));
        assert!(
            connection.rest().is_some(),
            "still open after {:?}",
            String::from_utf8_lossy(begin)
        );
    }
}

#[test]
fn connections_beyond_the_limit_wait_and_are_served_then() {
    let gate = limited(json!({"connections": 4}));
    // The metrics are asked over a connection that stays, so that asking needs no further one.
    let mut held: Vec<Connection> = (0..4)
        .map(|_| Connection::tcp(gate.port).unwrap())
        .collect();
    held.iter_mut().for_each(is_served);
    let open = |connection: &mut Connection| {
        let text = connection.ask("GET", "/metrics", b"").unwrap().text();
        crate::harness::Metrics::parse(&text)
            .total("portcullis_connections", &[("listener", "all")])
    };
    let mut waiting: Vec<Connection> = (0..6)
        .map(|_| Connection::tcp(gate.port).unwrap())
        .collect();
    for connection in &mut waiting {
        connection.send(&whole()).unwrap();
    }
    for _ in 0..20 {
        assert!(open(&mut held[0]) <= 4.0, "more connections than allowed");
    }
    // Accepted connections are still served meanwhile.
    held.iter_mut().for_each(is_served);
    drop(held);
    for mut connection in waiting {
        assert!(
            connection
                .receive()
                .expect("the connection was dropped")
                .is_allow()
        );
    }
}

#[test]
fn a_small_limit_leaves_no_listener_out() {
    let listeners: Vec<(u16, Value)> = (0..4)
        .map(|i| plain(&format!("tcp{i}"), &["kubernetes", "health"]))
        .collect();
    let mut config = chain(&["AlwaysAdmit"]);
    config["limits"] = json!({"connections": 2});
    config["listeners"] = listeners
        .iter()
        .map(|(_, listener)| listener.clone())
        .collect();
    let _gate = Gate::start(config);
    for (port, _) in listeners.iter().rev().chain(&listeners) {
        let mut connection = Connection::tcp(*port).unwrap();
        connection.patience(Duration::from_secs(10));
        is_served(&mut connection);
    }
}

#[test]
fn many_clients_that_never_finish_do_not_delay_the_others() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let whole = whole();
    let held: Vec<Connection> = (0..150)
        .map(|i| {
            let mut connection = Connection::tcp(gate.port).unwrap();
            let sent = if i % 2 == 0 { 40 } else { whole.len() - 30 };
            connection.send(&whole[..sent]).unwrap();
            connection
        })
        .collect();
    for _ in 0..20 {
        is_served(&mut Connection::tcp(gate.port).unwrap());
    }
    until("all are counted", || {
        gate.metrics()
            .total("portcullis_connections", &[("listener", "all")])
            >= 150.0
    });
    drop(held);
}
