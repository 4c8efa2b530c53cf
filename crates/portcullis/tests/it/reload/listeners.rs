//! Listeners that are added, removed and changed while the server runs.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Value, json};

use super::{becomes, is_open};
use crate::harness::{Connection, Gate, Pki, Review, Setup, Verdict, chain, free_port, pod, until};

fn tcp(name: &str, port: u16, serves: &[&str]) -> Value {
    json!({"name": name, "tcp": format!("127.0.0.1:{port}"), "serves": serves})
}

fn with(order: &[&str], listeners: &[Value]) -> Value {
    let mut config = chain(order);
    config["listeners"] = listeners.into();
    config
}

fn answers(port: u16) -> bool {
    let review = Review::create(&pod());
    let answer = Connection::tcp(port).and_then(|mut c| c.post("/validate", &review.value()));
    answer.is_ok_and(|answer| answer.status == 200)
}

fn is_closed(port: u16) -> bool {
    Connection::tcp(port).is_err()
}

#[track_caller]
fn reload(gate: &Gate, config: Value) {
    gate.configure(config);
    gate.hang_up();
}

#[test]
fn listeners_come_and_go() {
    let (one, two) = (free_port(), free_port());
    let gate = Gate::start(with(&["AlwaysAdmit"], &[tcp("one", one, &["kubernetes"])]));
    assert!(answers(one) && is_closed(two));
    reload(
        &gate,
        with(
            &["AlwaysAdmit"],
            &[
                tcp("one", one, &["kubernetes"]),
                tcp("two", two, &["kubernetes"]),
            ],
        ),
    );
    until("the second listener answers", || answers(two));
    assert!(answers(one));
    reload(
        &gate,
        with(&["AlwaysAdmit"], &[tcp("two", two, &["kubernetes"])]),
    );
    until("the first listener is closed", || is_closed(one));
    assert!(answers(two));
}

#[test]
fn a_listener_moves_to_another_address() {
    let (before, after) = (free_port(), free_port());
    let gate = Gate::start(with(
        &["AlwaysAdmit"],
        &[tcp("one", before, &["kubernetes"])],
    ));
    reload(
        &gate,
        with(&["AlwaysAdmit"], &[tcp("one", after, &["kubernetes"])]),
    );
    until("the new address answers", || answers(after));
    until("the old address is closed", || is_closed(before));
}

#[test]
fn a_listener_gets_other_doors_and_tls_without_being_closed() {
    let (port, pki) = (free_port(), Pki::new());
    let setup = Setup::new(with(&["AlwaysAdmit"], &[tcp("one", port, &["health"])]));
    let gate = setup
        .file("tls.crt", &pki.server.certificate_pem)
        .file("tls.key", &pki.server.key_pem)
        .start();
    assert!(!answers(port));
    reload(
        &gate,
        with(&["AlwaysAdmit"], &[tcp("one", port, &["kubernetes"])]),
    );
    until("reviews are answered", || answers(port));
    let mut encrypted = tcp("one", port, &["kubernetes"]);
    encrypted["tls"] = json!({"certificate": "tls.crt", "key": "tls.key"});
    reload(&gate, with(&["AlwaysAdmit"], &[encrypted]));
    until("TLS is spoken", || {
        Connection::tls(port, &pki.client(None)).is_ok()
    });
    assert!(!answers(port), "still answers in the clear");
}

#[test]
fn a_listener_gets_another_name() {
    let port = free_port();
    let gate = Gate::start(with(&["AlwaysDeny"], &[tcp("one", port, &["kubernetes"])]));
    reload(
        &gate,
        with(&["AlwaysAdmit"], &[tcp("uno", port, &["kubernetes"])]),
    );
    becomes(&gate, true);
    assert!(answers(port));
}

#[test]
fn two_listeners_change_places() {
    let (one, two) = (free_port(), free_port());
    let listeners = |a, b| {
        [
            tcp("reviews", a, &["kubernetes"]),
            tcp("health", b, &["health"]),
        ]
    };
    let gate = Gate::start(with(&["AlwaysAdmit"], &listeners(one, two)));
    assert!(answers(one) && !answers(two));
    reload(&gate, with(&["AlwaysAdmit"], &listeners(two, one)));
    until("they have changed places", || answers(two) && !answers(one));
}

#[test]
fn a_socket_gets_another_mode() {
    let socket = |mode: &str| json!({"name": "local", "unix": {"path": "a.sock", "mode": mode}, "serves": ["kubernetes"]});
    let gate = Gate::start(with(&["AlwaysAdmit"], &[socket("0660")]));
    let mode = || {
        std::fs::metadata(gate.folder.path("a.sock")).map_or(0, |m| m.permissions().mode() & 0o777)
    };
    assert_eq!(mode(), 0o660);
    reload(&gate, with(&["AlwaysAdmit"], &[socket("0600")]));
    until("the socket has the new mode", || mode() == 0o600);
    let review = Review::create(&pod());
    let mut connection = Connection::unix(&gate.folder.path("a.sock")).unwrap();
    Verdict::of(
        &connection.post("/validate", &review.value()).unwrap(),
        &review,
    )
    .allowed();
}

#[test]
fn a_socket_comes_and_goes() {
    let socket = json!({"name": "local", "unix": {"path": "a.sock"}, "serves": ["kubernetes"]});
    let gate = Gate::of(&["AlwaysAdmit"]);
    let path = gate.folder.path("a.sock");
    reload(&gate, with(&["AlwaysAdmit"], &[socket]));
    until("the socket is there", || Connection::unix(&path).is_ok());
    reload(&gate, with(&["AlwaysAdmit"], &[]));
    until("the socket is gone", || !path.exists());
}

#[test]
fn an_address_in_use_leaves_everything_as_it_was() {
    let other = Gate::of(&["AlwaysAdmit"]);
    let (one, new) = (free_port(), free_port());
    let gate = Gate::start(with(&["AlwaysDeny"], &[tcp("one", one, &["kubernetes"])]));
    let wanted = [
        tcp("new", new, &["kubernetes"]),
        tcp("taken", other.port, &["kubernetes"]),
    ];
    reload(&gate, with(&["AlwaysAdmit"], &wanted));
    gate.last_reload_is(false);
    assert!(
        gate.log().contains(&format!("127.0.0.1:{}", other.port)),
        "the log does not name it"
    );
    assert!(
        !is_open(&gate),
        "the new chain counts though a listener could not be bound"
    );
    assert!(answers(one), "the old listener is gone");
    until("the new listener is not there", || is_closed(new));
}

#[test]
fn what_a_removed_listener_has_begun_is_finished() {
    let port = free_port();
    let gate = Gate::start(with(&["AlwaysAdmit"], &[tcp("one", port, &["kubernetes"])]));
    let review = Review::create(&pod());
    let whole = crate::harness::request("POST", "/validate", &[], review.text().as_bytes());
    let mut connection = Connection::tcp(port).unwrap();
    connection.send(&whole[..whole.len() - 100]).unwrap();
    reload(&gate, with(&["AlwaysAdmit"], &[]));
    until("the listener is closed", || is_closed(port));
    connection.send(&whole[whole.len() - 100..]).unwrap();
    Verdict::of(&connection.receive().expect("dropped"), &review).allowed();
}

#[test]
fn the_limits_change_too() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let mut large = pod();
    large["metadata"]["annotations"] = json!({"x": "y".repeat(5000)});
    let review = Review::create(&large);
    gate.ask("/validate", &review).allowed();
    let mut config = chain(&["AlwaysAdmit"]);
    config["limits"] = json!({"body": "4Ki"});
    reload(&gate, config);
    until("the limit counts", || {
        gate.post("/validate", &review.value()).status == 413
    });
}

#[test]
fn a_smaller_limit_of_connections_counts_once_the_others_are_gone() {
    let limited = |connections: u32| {
        let mut config = chain(&["AlwaysAdmit"]);
        config["limits"] = json!({"connections": connections});
        config
    };
    let gate = Gate::start(limited(8));
    let served = |connection: &mut Connection| {
        let answer = connection.post("/validate", &Review::create(&pod()).value());
        answer.is_ok_and(|answer| answer.status == 200)
    };
    let mut held: Vec<Connection> = (0..6)
        .map(|_| Connection::tcp(gate.port).unwrap())
        .collect();
    assert!(held.iter_mut().all(served));
    reload(&gate, limited(2));
    until("the log tells", || {
        gate.log().contains("configuration reloaded")
    });
    // No connection is closed.
    assert!(held.iter_mut().all(served));
    drop(held);
    until("all have ended", || {
        gate.metrics().total("portcullis_connections", &[]) < 2.0
    });
    let mut two: Vec<Connection> = (0..2)
        .map(|_| Connection::tcp(gate.port).unwrap())
        .collect();
    assert!(two.iter_mut().all(served));
    let mut third = Connection::tcp(gate.port).unwrap();
    third.patience(Duration::from_secs(2));
    assert!(
        !served(&mut third),
        "three connections are served, two are allowed"
    );
    reload(&gate, limited(4));
    let mut fourth = Connection::tcp(gate.port).unwrap();
    assert!(served(&mut fourth), "a larger limit does not count");
    assert!(two.iter_mut().all(served));
}
