//! The configuration that runs when none is given: a working server on loopback.

mod jobs;

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

pub use jobs::Prepared;
pub(crate) use jobs::prepare;

use crate::issuer;

const NAME: &str = "demonstration";

/// The example people find in `examples/demonstration`.
const TEXT: &str = include_str!("../../../examples/demonstration/portcullis.yaml");

/// A privileged pod in a review, small enough for a command line.
pub const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","kind":{"version":"v1","kind":"Pod"},"resource":{"version":"v1","resource":"pods"},"name":"web","namespace":"default","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","image":"nginx","securityContext":{"privileged":true}}]}}}}"#;

/// The text, with other ports in place of those in use, and with an authenticator whose
/// key is created in the data directory.
///
/// # Errors
///
/// When the key can't be stored there.
pub fn configuration(data_dir: &Path) -> Result<String, String> {
    let mut text = TEXT.to_owned();
    for port in [8080, 9090] {
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            text = text.replace(&format!("127.0.0.1:{port}"), "127.0.0.1:0");
        }
    }
    let authenticator = issuer::authenticator(NAME, data_dir)?;
    Ok(format!("{text}authenticators: [{authenticator}]\n"))
}

/// A token that may do everything for some hours, for a demonstration with this data directory.
pub fn token(data_dir: &Path) -> Option<String> {
    issuer::token(NAME, data_dir)
}

/// A command line that tries the gate at this address.
pub fn curl(address: &str) -> String {
    format!("curl -s {address}/validate -H 'Content-Type: application/json' -d '{REVIEW}'")
}
