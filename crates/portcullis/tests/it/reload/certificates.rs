//! Certificates that change while the server runs.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::harness::tls::shown_at;
use crate::harness::{Connection, Gate, Pki, Review, Setup, Verdict, chain, free_port, pod, until};

/// A gate with a listener for everybody and one for clients with a certificate.
fn gate_of(pki: &Pki) -> (Gate, u16, u16) {
    let port = free_port();
    let tls = json!({"certificate": "tls.crt", "key": "tls.key", "clientCA": "ca.crt"});
    let open = json!({"certificate": "tls.crt", "key": "tls.key"});
    let client_port = free_port();
    let mut config = chain(&["AlwaysAdmit"]);
    config["listeners"] = json!([
        {"name": "tls", "tcp": format!("127.0.0.1:{port}"), "tls": open, "serves": ["kubernetes"]},
        {"name": "mtls", "tcp": format!("127.0.0.1:{client_port}"), "tls": tls, "serves": ["kubernetes"]},
    ]);
    let gate = Setup::new(config)
        .file("tls.crt", &pki.server.certificate_pem)
        .file("tls.key", &pki.server.key_pem)
        .file("ca.crt", &pki.authority.certificate_pem)
        .start();
    (gate, port, client_port)
}

#[test]
fn a_new_pair_is_served_once_it_fits_and_garbage_changes_nothing() {
    let pki = Pki::new();
    let (mut gate, port, _) = gate_of(&pki);
    let (first, second) = (
        pki.server.certificate.to_vec(),
        pki.second_server.certificate.to_vec(),
    );
    assert_eq!(shown_at(port).as_ref(), Some(&first));
    // Does not fit the key yet.
    gate.folder
        .write("tls.crt", &pki.second_server.certificate_pem);
    gate.last_reload_is(false);
    until("the log says why", || gate.log().contains("do not match"));
    assert_eq!(shown_at(port).as_ref(), Some(&first));
    gate.folder.write("tls.key", &pki.second_server.key_pem);
    until("the new certificate is shown", || {
        shown_at(port).as_ref() == Some(&second)
    });
    gate.last_reload_is(true);
    for name in ["tls.crt", "tls.key"] {
        gate.folder.write(name, "not a certificate\n");
    }
    gate.last_reload_is(false);
    assert_eq!(shown_at(port).as_ref(), Some(&second));
    gate.lives();
    gate.folder.replace("tls.crt", &pki.server.certificate_pem);
    gate.folder.replace("tls.key", &pki.server.key_pem);
    until("the first certificate is shown again", || {
        shown_at(port).as_ref() == Some(&first)
    });
}

#[test]
fn the_end_of_the_certificate_is_in_the_metrics() {
    let (gate, _, _) = gate_of(&Pki::new());
    let ends = gate.metrics().total(
        "portcullis_certificate_expiration_timestamp_seconds",
        &[("listener", "tls")],
    );
    // The first of January 2040.
    assert!((ends - 2_208_988_800.0).abs() < 1.0, "{ends}");
}

#[test]
fn no_request_fails_while_certificates_change() {
    let pki = Pki::new();
    let (gate, port, _) = gate_of(&pki);
    let client = pki.client(None);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut answered = 0;
            while !is_over.load(Ordering::Relaxed) {
                let review = Review::create(&pod());
                let mut connection = Connection::tls(port, &client).expect("a handshake failed");
                let answer = connection
                    .post("/validate", &review.value())
                    .expect("a request failed");
                Verdict::of(&answer, &review).allowed();
                answered += 1;
            }
            answered
        });
        for identity in [&pki.second_server, &pki.server] {
            gate.folder.replace("tls.crt", &identity.certificate_pem);
            gate.folder.replace("tls.key", &identity.key_pem);
            gate.hang_up();
            until("the other certificate is shown", || {
                shown_at(port).as_deref() == Some(identity.certificate.as_ref())
            });
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(
            asking.join().expect("a request failed") > 3,
            "hardly any request was made"
        );
    });
}

#[test]
fn the_authority_of_clients_changes_too() {
    let (pki, other) = (Pki::new(), Pki::new());
    let (gate, _, port) = gate_of(&pki);
    let is_let_in = |who: &Pki| {
        let client = pki.client(Some(&who.client));
        let answer =
            Connection::tls(port, &client).and_then(|mut c| c.ask("POST", "/validate", b"{"));
        answer.is_ok_and(|answer| answer.status == 400)
    };
    assert!(is_let_in(&pki) && !is_let_in(&other));
    gate.folder
        .write("ca.crt", &other.authority.certificate_pem);
    until("clients of the other authority are let in", || {
        is_let_in(&other)
    });
    assert!(!is_let_in(&pki));
}

#[test]
fn connections_do_not_outlive_the_authority_that_let_them_in() {
    let (pki, other) = (Pki::new(), Pki::new());
    let (gate, open_port, port) = gate_of(&pki);
    let client = pki.client(Some(&pki.client));
    let mut before = Connection::tls(port, &client).unwrap();
    let mut unconcerned = Connection::tls(open_port, &pki.client(None)).unwrap();
    let ask = |connection: &mut Connection| {
        let review = Review::create(&pod());
        let answer = connection.post("/validate", &review.value());
        answer.map(|answer| answer.status)
    };
    assert_eq!(ask(&mut before).unwrap(), 200);
    assert_eq!(ask(&mut unconcerned).unwrap(), 200);
    // The same authorities in a file that was written again are the same.
    let reloads = || {
        let name = "portcullis_config_last_reload_success_timestamp_seconds";
        gate.metrics().total(name, &[])
    };
    let first = reloads();
    gate.folder
        .write("ca.crt", format!("{}\n", pki.authority.certificate_pem));
    until("the file was read again", || reloads() > first);
    assert_eq!(ask(&mut before).unwrap(), 200);
    gate.folder
        .write("ca.crt", &other.authority.certificate_pem);
    until("the connection is closed", || ask(&mut before).is_err());
    assert_eq!(ask(&mut unconcerned).unwrap(), 200);
    let stranger = pki.client(Some(&other.client));
    assert_eq!(
        ask(&mut Connection::tls(port, &stranger).unwrap()).unwrap(),
        200
    );
}
