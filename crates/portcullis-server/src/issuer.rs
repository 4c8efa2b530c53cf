//! Tokens of a server that nobody has configured: it trusts those that it issues itself, with a key in its data
//! directory.

use std::io;
use std::path::Path;
use std::time::Duration;

use portcullis_authn::{AuthenticatorSettings, Authenticators, Keys, Mint, Secret};
use portcullis_core::clock;
use portcullis_files::Use;
use serde_json::Value;

const LARGEST_KEY: u64 = 1 << 10;
const TOKEN_LIFE: Duration = Duration::from_secs(8 * 3600);

/// An authenticator of this name, for a configuration, whose key is created in the data directory.
///
/// # Errors
///
/// When the key can't be stored there.
pub(crate) fn authenticator(name: &str, data_dir: &Path) -> Result<Value, String> {
    portcullis_files::prepare_directory(data_dir)?;
    let key = data_dir.join(key_file(name));
    portcullis_files::check_own(&key, Use::Key)
        .and_then(|_| make_key(&key).map_err(|error| error.to_string()))
        .map_err(|reason| format!("the key for tokens, `{}`: {reason}", key.display()))?;
    let Some(key) = key.to_str() else {
        return Err(format!(
            "the name of the key for tokens is not UTF-8: `{}`",
            key.display()
        ));
    };
    Ok(serde_json::json!({
        "name": name,
        "driver": "HS256",
        "issuer": name,
        "audience": "portcullis",
        "secretFile": key,
        "allowAuthzOverride": true,
    }))
}

/// A token that may do everything for some hours, at a server with this data directory.
pub(crate) fn token(name: &str, data_dir: &Path) -> Option<String> {
    let secret = portcullis_files::read(&data_dir.join(key_file(name)), LARGEST_KEY).ok()?;
    let settings = AuthenticatorSettings {
        audience: "portcullis".to_owned(),
        allow_authz_override: true,
        ..AuthenticatorSettings::new(name, Keys::Shared(Secret::of_file(secret)))
    };
    let wish = Mint {
        subject: "you".to_owned(),
        tenants: vec!["*".to_owned()],
        claims: serde_json::Map::new(),
        expires_in: TOKEN_LIFE,
    };
    let authenticators = Authenticators::new(vec![settings], None).ok()?;
    authenticators.mint(name, &wish, clock::wall()).ok()
}

fn key_file(name: &str) -> String {
    format!("{name}.key")
}

/// Makes the key, unless there is one. It is text: a newline at the end of a secret would not count.
fn make_key(file: &Path) -> io::Result<()> {
    let mut random = [0; 32];
    aws_lc_rs::rand::fill(&mut random)
        .map_err(|_| io::Error::other("the operating system returned no random numbers"))?;
    let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    portcullis_files::create_private(file, text.as_bytes()).map(|_| ())
}
