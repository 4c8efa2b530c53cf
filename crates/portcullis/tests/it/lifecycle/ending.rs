//! How a server ends.

use serde_json::{Value, json};

use crate::harness::{
    Connection, Gate, Pki, Review, Setup, Verdict, chain, free_port, pod, request, until,
};

fn slow_end(delay: &str, grace: &str) -> Value {
    let mut config = chain(&["AlwaysAdmit"]);
    config["shutdown"] = json!({"delay": delay, "grace": grace});
    config
}

fn whole() -> Vec<u8> {
    request(
        "POST",
        "/validate",
        &[("Expect", "100-continue")],
        Review::create(&pod()).text().as_bytes(),
    )
}

/// A connection on which a request has begun, and the gate knows it: its head is there, its body not quite.
fn begun(port: u16) -> Connection {
    let mut connection = Connection::tcp(port).unwrap();
    let whole = whole();
    let end = whole.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = whole.split_at(end.unwrap() + 4);
    connection.send(head).unwrap();
    assert_eq!(connection.answer(false).unwrap().status, 100);
    connection.send(&body[..body.len() - 200]).unwrap();
    connection
}

#[test]
fn it_is_unready_first_then_finishes_what_has_begun_then_exits_0() {
    let mut gate = Gate::start(slow_end("1s", "30s"));
    let mut idle = Connection::tcp(gate.port).unwrap();
    idle.post("/validate", &Review::create(&pod()).value())
        .unwrap();
    let mut connection = begun(gate.port);
    let mut asking = Connection::tcp(gate.port).unwrap();
    gate.terminate();
    // Still takes requests while it says that it wants no more.
    until("it is unready", || {
        asking.ask("GET", "/readyz", b"").unwrap().status == 503
    });
    let verbose = asking.ask("GET", "/readyz?verbose", b"").unwrap().text();
    assert!(verbose.contains("[-]shutdown"), "{verbose}");
    assert_eq!(asking.ask("GET", "/livez", b"").unwrap().status, 200);
    gate.lives();
    until("it takes no more connections", || {
        Connection::tcp(gate.port).is_err()
    });
    assert!(gate.is_running(), "ended with a request under way");
    let whole = whole();
    connection.send(&whole[whole.len() - 200..]).unwrap();
    let answer = connection
        .receive()
        .expect("the request under way got no answer");
    Verdict::of(&answer, &Review::create(&pod())).allowed();
    assert_eq!(gate.wait().code(), Some(0));
}

#[test]
fn connections_at_rest_do_not_hold_it() {
    let pki = Pki::new();
    let port = free_port();
    let mut config = slow_end("0ms", "60s");
    let tls = json!({"certificate": "tls.crt", "key": "tls.key"});
    config["listeners"] = json!([{"name": "tls", "tcp": format!("127.0.0.1:{port}"), "tls": tls, "serves": ["kubernetes"]}]);
    let setup = Setup::new(config).file("tls.crt", &pki.server.certificate_pem);
    let mut gate = setup.file("tls.key", &pki.server.key_pem).start();
    let mut idle = Connection::tcp(gate.port).unwrap();
    idle.post("/validate", &Review::create(&pod()).value())
        .unwrap();
    let mut encrypted = Connection::tls(port, &pki.client(None)).unwrap();
    encrypted
        .post("/validate", &Review::create(&pod()).value())
        .unwrap();
    let fresh = Connection::tcp(gate.port).unwrap();
    gate.terminate();
    // Waits less long than the grace of one minute.
    assert_eq!(gate.wait().code(), Some(0));
    drop((idle, encrypted, fresh));
}

#[test]
fn a_handshake_that_never_comes_does_not_hold_it_for_long() {
    let pki = Pki::new();
    let port = free_port();
    let mut config = slow_end("0ms", "60s");
    config["limits"] = json!({"headerTimeout": "2s"});
    let tls = json!({"certificate": "tls.crt", "key": "tls.key"});
    config["listeners"] = json!([{"name": "tls", "tcp": format!("127.0.0.1:{port}"), "tls": tls, "serves": ["kubernetes"]}]);
    let setup = Setup::new(config).file("tls.crt", &pki.server.certificate_pem);
    let mut gate = setup.file("tls.key", &pki.server.key_pem).start();
    let silent = Connection::tcp(port).unwrap();
    until("it is accepted", || {
        gate.metrics()
            .total("portcullis_connections", &[("listener", "tls")])
            >= 1.0
    });
    gate.terminate();
    assert_eq!(gate.wait().code(), Some(0));
    drop(silent);
}

#[test]
fn half_a_head_does_not_hold_it_for_long() {
    let mut config = slow_end("0ms", "60s");
    config["limits"] = json!({"headerTimeout": "2s"});
    let mut gate = Gate::start(config);
    let mut silent = Connection::tcp(gate.port).unwrap();
    silent.send(b"POST /val").unwrap();
    until("it is accepted", || {
        gate.metrics()
            .total("portcullis_connections", &[("listener", "all")])
            >= 2.0
    });
    gate.terminate();
    assert_eq!(gate.wait().code(), Some(0));
    drop(silent);
}

#[test]
fn what_does_not_finish_in_time_is_given_up() {
    let mut gate = Gate::start(slow_end("0ms", "1s"));
    let stuck = begun(gate.port);
    gate.terminate();
    assert_eq!(gate.wait().code(), Some(0));
    assert!(
        gate.log().contains("not finished in time"),
        "the log does not tell"
    );
    drop(stuck);
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut gate = Gate::start(slow_end("0ms", "60s"));
    let stuck = begun(gate.port);
    gate.terminate();
    until("it takes no more connections", || {
        Connection::tcp(gate.port).is_err()
    });
    assert!(gate.is_running());
    gate.terminate();
    // Waits less long than the grace of one minute.
    gate.wait();
    drop(stuck);
}

#[test]
fn an_interrupt_ends_it_without_the_delay() {
    let mut gate = Gate::start(slow_end("60s", "60s"));
    gate.interrupt();
    assert_eq!(gate.wait().code(), Some(0));
}
