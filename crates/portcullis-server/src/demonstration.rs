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
/// What its graph is made of, and where the example has it.
const OBJECTS: &str = include_str!("../../../examples/demonstration/objects/cluster.yaml");
const OBJECTS_PLACE: &str = "./objects";
/// Where the data directory has it.
const OBJECTS_FOLDER: &str = "demonstration-objects";

/// A privileged pod in a review, small enough for a command line.
pub const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","kind":{"version":"v1","kind":"Pod"},"resource":{"version":"v1","resource":"pods"},"name":"web","namespace":"default","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","image":"nginx","securityContext":{"privileged":true}}]}}}}"#;

/// The text, with other ports in place of those in use, and with an authenticator whose
/// key is created in the data directory. So are the objects of the graph.
///
/// # Errors
///
/// When the key or the objects can't be stored there.
pub fn configuration(data_dir: &Path) -> Result<String, String> {
    let mut text = TEXT.to_owned();
    for port in [8080, 9090] {
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            text = text.replace(&format!("127.0.0.1:{port}"), "127.0.0.1:0");
        }
    }
    text = text.replace(OBJECTS_PLACE, &objects(data_dir)?);
    let authenticator = issuer::authenticator(NAME, data_dir)?;
    Ok(format!("{text}authenticators: [{authenticator}]\n"))
}

/// Stores the objects of the graph; gives their folder, as JSON.
fn objects(data_dir: &Path) -> Result<String, String> {
    let folder = data_dir.join(OBJECTS_FOLDER);
    let wrong = |error: std::io::Error| format!("`{}`: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(wrong)?;
    std::fs::write(folder.join("cluster.yaml"), OBJECTS).map_err(wrong)?;
    let folder = std::path::absolute(&folder).map_err(wrong)?;
    Ok(serde_json::Value::from(folder.to_string_lossy()).to_string())
}

/// A token that may do everything for some hours, for a demonstration with this data directory.
pub fn token(data_dir: &Path) -> Option<String> {
    issuer::token(NAME, data_dir)
}

/// A command line that tries the gate at this address.
pub fn curl(address: &str) -> String {
    format!("curl -s {address}/validate -H 'Content-Type: application/json' -d '{REVIEW}'")
}
