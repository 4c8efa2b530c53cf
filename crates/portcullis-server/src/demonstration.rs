//! The configuration that runs when none is given: a working gate on loopback.

use std::net::{Ipv4Addr, TcpListener};

/// The example people find in `examples/demonstration`.
const TEXT: &str = include_str!("../../../examples/demonstration/portcullis.yaml");

/// A privileged pod in a review, small enough for a command line.
pub const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","kind":{"version":"v1","kind":"Pod"},"resource":{"version":"v1","resource":"pods"},"name":"web","namespace":"default","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","image":"nginx","securityContext":{"privileged":true}}]}}}}"#;

/// The text, with other ports in place of those that are taken.
pub fn configuration() -> String {
    let mut text = TEXT.to_owned();
    for port in [8080, 9090] {
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            text = text.replace(&format!("127.0.0.1:{port}"), "127.0.0.1:0");
        }
    }
    text
}

/// A command line that tries the gate at this address.
pub fn curl(address: &str) -> String {
    format!("curl -s {address}/validate -H 'Content-Type: application/json' -d '{REVIEW}'")
}
