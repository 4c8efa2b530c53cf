//! The configuration that runs when none is given: a working server on loopback.

mod jobs;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use portcullis_authn::{AuthenticatorSettings, Authenticators, Keys, Mint, Secret};
use portcullis_core::clock;
use portcullis_files::Use;

pub use jobs::Prepared;
pub(crate) use jobs::prepare;

const NAME: &str = "demonstration";
const KEY_FILE: &str = "demonstration.key";
const LARGEST_KEY: u64 = 1 << 10;
const TOKEN_LIFE: Duration = Duration::from_secs(8 * 3600);

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
    portcullis_files::prepare_directory(data_dir)?;
    let key = data_dir.join(KEY_FILE);
    portcullis_files::check_own(&key, Use::Key)
        .and_then(|_| make_key(&key).map_err(|error| error.to_string()))
        .map_err(|reason| format!("the key for tokens, `{}`: {reason}", key.display()))?;
    let authenticator = serde_json::json!([{
        "name": NAME,
        "driver": "HS256",
        "issuer": NAME,
        "audience": "portcullis",
        "secretFile": key,
        "allowAuthzOverride": true,
    }]);
    Ok(format!("{text}authenticators: {authenticator}\n"))
}

/// Makes the key, unless there is one. It is text: a newline at the end of a secret would not count.
fn make_key(file: &Path) -> io::Result<()> {
    let mut random = [0; 32];
    aws_lc_rs::rand::fill(&mut random)
        .map_err(|_| io::Error::other("the operating system returned no random numbers"))?;
    let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    portcullis_files::create_private(file, text.as_bytes()).map(|_| ())
}

/// A token that may do everything for some hours, for a demonstration with this data directory.
pub fn token(data_dir: &Path) -> Option<String> {
    let secret = portcullis_files::read(&data_dir.join(KEY_FILE), LARGEST_KEY).ok()?;
    let settings = AuthenticatorSettings {
        audience: "portcullis".to_owned(),
        allow_authz_override: true,
        ..AuthenticatorSettings::new(NAME, Keys::Shared(Secret::of_file(secret)))
    };
    let wish = Mint {
        subject: "you".to_owned(),
        tenants: vec!["*".to_owned()],
        claims: serde_json::Map::new(),
        expires_in: TOKEN_LIFE,
    };
    let authenticators = Authenticators::new(vec![settings], None).ok()?;
    authenticators.mint(NAME, &wish, clock::wall()).ok()
}

/// A command line that tries the gate at this address.
pub fn curl(address: &str) -> String {
    format!("curl -s {address}/validate -H 'Content-Type: application/json' -d '{REVIEW}'")
}
