//! Authenticators with their keys.

use std::path::Path;

use portcullis_authn::{
    Algorithm, AuthenticatorSettings, Authenticators, Keys, LoginSettings, Secret,
};

use portcullis_files::Use;

use portcullis_config::{AccessSettings, Authenticator, AuthenticatorDriver};
use portcullis_document::{Fault, Faults, Warning};

/// Larger files are not keys.
const MOST_BYTES: u64 = 1 << 20;

/// Reads all keys, and makes the authenticators of those that take tokens. Says what is odd about the files.
pub(super) fn authenticators(
    settings: &AccessSettings,
    previous: Option<&Authenticators>,
) -> Result<(Authenticators, Vec<Warning>), Vec<Fault>> {
    let mut faults = Vec::new();
    let mut warnings = Vec::new();
    let mut made = Vec::new();
    let mut origins = Vec::new();
    for one in &settings.authenticators {
        match with_keys(one, &mut warnings) {
            Ok(Some(settings)) => {
                made.push(settings);
                origins.push(&one.origin);
            }
            Ok(None) => {}
            Err(wrong) => faults.extend(wrong),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let made = Authenticators::new(made, previous).map_err(|wrong| {
        let place = |(place, fault): portcullis_authn::SettingsFault| {
            Some(origins.get(place)?.locate(fault))
        };
        wrong.into_iter().filter_map(place).collect::<Vec<_>>()
    })?;
    Ok((made, warnings))
}

fn with_keys(
    one: &Authenticator,
    warnings: &mut Vec<Warning>,
) -> Result<Option<AuthenticatorSettings>, Faults> {
    let mut file = |key: &str, named: Option<&Path>, used| file(one, key, named, used, warnings);
    let mut pair = |algorithm| {
        let public = needed(file(
            "publicKeyFile",
            one.public_key_file.as_deref(),
            Use::Data,
        )?);
        let private = file("privateKeyFile", one.private_key_file.as_deref(), Use::Key)?;
        Ok::<_, Faults>(Keys::Pair {
            algorithm,
            public,
            private: private.map(Secret),
        })
    };
    let keys = match one.driver {
        AuthenticatorDriver::HS256 => {
            let mut secret = needed(file("secretFile", one.secret_file.as_deref(), Use::Key)?);
            without_newline(&mut secret);
            Keys::Shared(Secret(secret))
        }
        AuthenticatorDriver::RS256 => pair(Algorithm::Rs256)?,
        AuthenticatorDriver::ES256 => pair(Algorithm::Es256)?,
        AuthenticatorDriver::EdDSA => pair(Algorithm::EdDsa)?,
        AuthenticatorDriver::OpenIDConnect => Keys::Provider {
            keys_url: one.keys_url.clone(),
        },
        AuthenticatorDriver::ClientCertificate | AuthenticatorDriver::UnixSocket => {
            return Ok(None);
        }
    };
    let mut client_secret = file(
        "clientSecretFile",
        one.client_secret_file.as_deref(),
        Use::Key,
    )?;
    client_secret.iter_mut().for_each(without_newline);
    let login = one.client_id.as_ref().map(|client_id| LoginSettings {
        client_id: client_id.clone(),
        client_secret: client_secret.map(Secret),
        scopes: one.scopes.clone(),
    });
    Ok(Some(AuthenticatorSettings {
        name: one.name.clone(),
        issuer: one.issuer.clone(),
        audience: one.audience.clone(),
        realm: one.realm.clone(),
        is_default: one.is_default,
        uid_claim: one.uid_claim.clone(),
        allow_authz_override: one.allow_authz_override,
        max_validity: one.max_validity,
        skew: one.skew,
        keys,
        login,
        ca: file("caFile", one.ca_file.as_deref(), Use::Data)?,
    }))
}

/// A file that ends with a newline because editors do so.
pub fn without_newline(bytes: &mut Vec<u8>) {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
}

/// That the key is there was checked when the configuration was loaded.
fn needed(bytes: Option<Vec<u8>>) -> Vec<u8> {
    bytes.unwrap_or_default()
}

fn file(
    one: &Authenticator,
    key: &str,
    named: Option<&Path>,
    used: Use,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Vec<u8>>, Faults> {
    let Some(named) = named else {
        return Ok(None);
    };
    let at = |message: String| one.origin.fault(key, message);
    let shown = named.display();
    let cannot_read = |reason: &str| Faults::from(at(format!("cannot read `{shown}`: {reason}")));
    let bytes = portcullis_files::read(named, MOST_BYTES).map_err(|e| cannot_read(&e))?;
    if bytes.trim_ascii().is_empty() {
        return Err(cannot_read("it is empty"));
    }
    match portcullis_files::check_named(named, used) {
        Ok(odd) => {
            let warning = odd.map(|odd| at(format!("`{shown}`: {odd}")).into());
            warnings.extend::<Option<Warning>>(warning);
            Ok(Some(bytes))
        }
        Err(reason) => Err(at(format!("`{shown}`: {reason}")).into()),
    }
}
