//! `req` and `ac` over every kind of listener.

use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use crate::harness::{Acjs, Connection, Gate, Pki, Setup, Verdict, free_port};
use crate::policies::{fruit, native, review_of};

/// What the policy gives back as JSON.
fn told(verdict: &Verdict) -> Value {
    let text = verdict.message().strip_prefix("P: ").unwrap();
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn the_request_has_both_names() {
    let gate = Gate::start(native(&[("P", "return JSON.stringify(req)")]));
    let review = review_of(&fruit())
        .set("subResource", "status")
        .set("dryRun", true)
        .set("options", json!({"kind": "CreateOptions"}));
    let seen = told(&gate.ask("/validate", &review));
    for (json, go, value) in [
        ("uid", "UID", json!("u1")),
        ("name", "Name", json!("p1")),
        ("namespace", "Namespace", json!("ns1")),
        ("operation", "Operation", json!("CREATE")),
        ("subResource", "SubResource", json!("status")),
        ("dryRun", "DryRun", json!(true)),
    ] {
        assert_eq!(seen[json], value, "{json}");
        assert_eq!(seen[go], value, "{go}");
    }
    for (json, go) in [("kind", "Kind"), ("requestKind", "RequestKind")] {
        assert_eq!(seen[json]["kind"], "Pod", "{json}");
        assert_eq!(seen[go]["Kind"], "Pod", "{go}");
    }
    assert_eq!(seen["resource"]["resource"], "pods");
    assert_eq!(seen["Resource"]["Resource"], "pods");
    assert_eq!(seen["userInfo"]["username"], "bob");
    assert_eq!(seen["UserInfo"]["Username"], "bob");
    assert_eq!(seen["UserInfo"]["Groups"], json!(["staff"]));
    assert_eq!(seen["options"]["kind"], "CreateOptions");
}

const AC: &str = "return JSON.stringify(ac)";

#[test]
fn a_unix_socket_knows_the_process() {
    let server = Acjs::of(&[("P", AC)]);
    let seen = told(&server.ask_at("/a%20b?x=1", &review_of(&fruit())));
    let socket = std::fs::metadata(server.socket()).unwrap();
    assert_eq!(seen["UserAuthNMethod"], "unix-domain-socket");
    assert_eq!(seen["User"]["Pid"], std::process::id());
    assert_eq!(seen["User"]["Uid"], socket.uid());
    assert_eq!(seen["User"]["Gid"], socket.gid());
    for key in ["Username", "Group"] {
        assert!(seen["User"][key].is_string(), "{seen}");
    }
    assert_eq!(seen["RequestPeerCertificates"], json!([]));
    let request = &seen["HTTPRequest"];
    assert_eq!(request["Method"], "POST");
    assert_eq!(request["RequestURI"], "/a%20b?x=1");
    assert_eq!(request["RequestUri"], "/a%20b?x=1");
    assert_eq!(request["Host"], "localhost");
    assert_eq!(request["URL"]["Path"], "/a b");
    let time = seen["Timestamp"].as_str().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    assert_eq!(seen["GlobalContext"], json!({}));
}

#[test]
fn headers_are_found_whatever_their_case() {
    let code = "const h = ac.HTTPRequest.Header, q = ac.HTTPRequest.URL.Query()\n\
        return JSON.stringify([h.Get('X-A'), h.Get('x-a'), h.Values('X-a'), h.Get('none'), h['X-A'], q.Get('x'), q.Get('y')])";
    let server = Acjs::of(&[("P", code)]);
    let review = review_of(&fruit());
    let headers = [("x-a", "1"), ("X-A", "2")];
    let answer = server.send("/?x=1%202&y", &headers, review.text().as_bytes());
    let seen = told(&Verdict::of(&answer, &review));
    assert_eq!(
        seen,
        json!(["1", "1", ["1", "2"], "", ["1", "2"], "1 2", ""])
    );
}

#[test]
fn tls_and_client_certificates() {
    let (pki, plain, mutual) = (Pki::new(), free_port(), free_port());
    let listener = |name: &str, port: u16, tls: Value| json!({"name": name, "tcp": format!("127.0.0.1:{port}"), "tls": tls, "serves": ["kubernetes"]});
    let mut config = native(&[("P", AC)]);
    config["listeners"] = json!([
        listener(
            "tls",
            plain,
            json!({"certificate": "tls.crt", "key": "tls.key"})
        ),
        listener(
            "mtls",
            mutual,
            json!({"certificate": "tls.crt", "key": "tls.key", "clientCA": "ca.crt"})
        ),
    ]);
    let gate = Setup::new(config)
        .file("tls.crt", &pki.server.certificate_pem)
        .file("tls.key", &pki.server.key_pem)
        .file("ca.crt", &pki.authority.certificate_pem)
        .start();
    let review = review_of(&fruit());
    let seen = |mut connection: Connection| {
        let answer = connection.post("/validate", &review.value()).unwrap();
        told(&Verdict::of(&answer, &review))
    };
    for connection in [
        Connection::tcp(gate.port).unwrap(),
        Connection::tls(plain, &pki.client(None)).unwrap(),
    ] {
        let ac = seen(connection);
        assert_eq!(ac["User"], Value::Null);
        assert_eq!(ac["UserAuthNMethod"], "");
        assert_eq!(ac["RequestPeerCertificates"], json!([]));
        let address = ac["HTTPRequest"]["RemoteAddr"].as_str().unwrap();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
    }
    let client = pki.client(Some(&pki.client));
    let ac = seen(Connection::tls(mutual, &client).unwrap());
    assert_eq!(ac["UserAuthNMethod"], "mTLS");
    assert_eq!(ac["User"]["CommonName"], "client");
    assert_eq!(ac["User"]["Organization"], json!([]));
    let shown = &ac["RequestPeerCertificates"][0];
    assert_eq!(shown["Subject"]["CommonName"], "client");
    assert_eq!(shown["Issuer"]["CommonName"], "authority");
    assert_eq!(shown["DNSNames"], json!(["localhost"]));
    assert_eq!(shown["IPAddresses"], json!(["127.0.0.1"]));
    assert_eq!(shown["NotAfter"], "2040-01-01T00:00:00Z");
    assert_eq!(shown["IsCA"], false);
}
