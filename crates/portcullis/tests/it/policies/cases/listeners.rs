//! Cases 39 and 40: TLS, and client certificates.

use serde_json::{Value, json};

use crate::harness::{Connection, Folder, Gate, Pki, Verdict, acjs, free_port, program};
use crate::policies::{fruit, review_of};
use portcullis_testing::policies::VIOLATES;
use portcullis_testing::policies::Want::No;

/// A server with this listener and no other.
fn server(pki: &Pki, code: &str, listener: Value) -> Gate {
    let folder = Folder::new();
    folder.write("tls.crt", &pki.server.certificate_pem);
    folder.write("tls.key", &pki.server.key_pem);
    folder.write("ca.crt", &pki.authority.certificate_pem);
    let mut config = acjs(&[("P", code)]);
    config["listener"] = listener;
    folder.write("acjs.yaml", config.to_string());
    let mut command = program(folder.root());
    command.args(["serve", "-config-file=acjs.yaml", "--data-dir", "data"]);
    Gate::spawn_unready(folder, command, |log| log.contains("listening"))
}

fn asked(port: u16, client: &std::sync::Arc<rustls::ClientConfig>) -> std::io::Result<Verdict> {
    let review = review_of(&fruit());
    let answer = Connection::tls(port, client)?.post("/", &review.value())?;
    Ok(Verdict::of(&answer, &review))
}

#[test]
fn tls_knows_nobody() {
    let (pki, port) = (Pki::new(), free_port());
    let tls = json!({"privateKeyPath": "tls.key", "certificatePath": "tls.crt", "listenOn": format!("127.0.0.1:{port}")});
    let code = "return 'u=' + ac.User + ' m=' + ac.UserAuthNMethod";
    let gate = server(&pki, code, json!({"tls": tls}));
    let verdict = asked(port, &pki.client(None)).unwrap();
    No(VIOLATES, "P: u=null m=").compare(39, &verdict, &fruit());
    drop(gate);
}

#[test]
fn mutual_tls_knows_the_subject() {
    let (pki, port) = (Pki::new(), free_port());
    let mtls = json!({
        "privateKeyPath": "tls.key", "certificatePath": "tls.crt", "clientCAsPath": "ca.crt",
        "listenOn": format!("127.0.0.1:{port}"),
    });
    let code = "return ac.User.CommonName + ' by ' + ac.UserAuthNMethod + ' of ' + ac.RequestPeerCertificates[0].Issuer.CommonName";
    let gate = server(&pki, code, json!({"mtls": mtls}));
    let verdict = asked(port, &pki.client(Some(&pki.client))).unwrap();
    let message = "P: client by mTLS of authority";
    No(VIOLATES, message).compare(40, &verdict, &fruit());
    for (who, identity) in [("nobody", None), ("a stranger", Some(&pki.stranger))] {
        assert!(asked(port, &pki.client(identity)).is_err(), "{who} got in");
    }
    drop(gate);
}
