//! Identities without a token: clients with certificates, and processes at unix sockets.

use serde_json::{Value, json};

use super::setup;
use crate::harness::{Answer, Connection, Pki, Setup, free_port, request};

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "kim", "conditions":
            [{"iss": "client-certificate", "preferred_username": "client"}]}},
        {"tenant": {"name": "t1", "anonymous-read-access": false, "role-mappings": {"kim": "admin"}}},
    ])
}

fn get(connection: &mut Connection, path: &str) -> Answer {
    connection.ask("GET", path, b"").unwrap()
}

#[test]
fn a_clients_certificate_counts_where_the_configuration_says_so() {
    let pki = Pki::new();
    for is_believed in [true, false] {
        let port = free_port();
        let listener = json!({"name": "certified", "tcp": format!("127.0.0.1:{port}"), "serves": ["api"],
            "tls": {"certificate": "tls.crt", "key": "tls.key", "clientCA": "ca.crt"}});
        let mut config = json!({"listeners": [listener], "tenants": {"file": "tenants.yaml"}});
        if is_believed {
            config["authenticators"] = json!([{"name": "certs", "driver": "ClientCertificate"}]);
        }
        let _gate = Setup::new(config)
            .file("tenants.yaml", tenants().to_string())
            .file("tls.crt", &pki.server.certificate_pem)
            .file("tls.key", &pki.server.key_pem)
            .file("ca.crt", &pki.authority.certificate_pem)
            .start();
        let mut connection = Connection::tls(port, &pki.client(Some(&pki.client))).unwrap();
        let answer = get(&mut connection, "/api/tenant/t1/authorizations");
        if is_believed {
            assert_eq!(answer.json()["zuul"]["admin"], true);
            assert_eq!(answer.json()["rules"], json!(["kim"]));
        } else {
            answer.error(401);
        }
    }
}

#[test]
fn the_servers_own_user_may_do_everything_at_a_unix_socket() {
    let (setup, _) = setup(Some(&tenants()));
    let socket = setup.path("api.sock");
    let gate = setup
        .listener(json!({"name": "local", "unix": {"path": "api.sock"}, "serves": ["api"]}))
        .start();
    let mut connection = Connection::unix(&socket).unwrap();
    let answer = get(&mut connection, "/api/tenant/t1/authorizations").json();
    assert_eq!(answer["zuul"], json!({"admin": true, "scope": ["t1"]}));
    // A token that is shown counts, and is not made up for by the socket.
    let headers = [("Authorization", "Bearer not-a-token")];
    connection
        .send(&request("GET", "/api/tenant/t1/status", &headers, b""))
        .unwrap();
    connection.answer(true).unwrap().error(401);
    let headers = [("Sec-Fetch-Site", "cross-site")];
    let body = br#"{"reason": "x"}"#;
    connection
        .send(&request("POST", "/api/tenant/t1/state", &headers, body))
        .unwrap();
    let (error, _) = connection.answer(true).unwrap().error(403);
    assert_eq!(error["code"], "csrf");
    drop(gate);
}
