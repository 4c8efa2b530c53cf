//! Authenticators with their keys.

use std::path::Path;

use portcullis_authn::{
    Algorithm, AuthenticatorSettings, Authenticators, Keys, LoginSettings, Secret,
};

use crate::config::{AccessSettings, Authenticator, AuthenticatorDriver, Fault, Faults};

/// Larger files are no keys.
const MOST_BYTES: u64 = 1 << 20;

/// Reads all keys, and makes the authenticators of those that take tokens.
pub(super) fn authenticators(
    settings: &AccessSettings,
    previous: Option<&Authenticators>,
) -> Result<Authenticators, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut made = Vec::new();
    let mut origins = Vec::new();
    for one in &settings.authenticators {
        match with_keys(one) {
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
    Authenticators::new(made, previous).map_err(|wrong| {
        let place = |fault: portcullis_authn::SettingsFault| {
            let origin = origins.get(fault.authenticator)?;
            Some(origin.fault(fault.key, fault.message))
        };
        wrong.into_iter().filter_map(place).collect()
    })
}

fn with_keys(one: &Authenticator) -> Result<Option<AuthenticatorSettings>, Faults> {
    let pair = |algorithm| {
        let public = file(one, "publicKeyFile", one.public_key_file.as_deref())?;
        let private = optional(one, "privateKeyFile", one.private_key_file.as_deref())?;
        Ok::<_, Faults>(Keys::Pair {
            algorithm,
            public,
            private: private.map(Secret),
        })
    };
    let keys = match one.driver {
        AuthenticatorDriver::HS256 => {
            let mut secret = file(one, "secretFile", one.secret_file.as_deref())?;
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
    let mut client_secret = optional(one, "clientSecretFile", one.client_secret_file.as_deref())?;
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
        ca: optional(one, "caFile", one.ca_file.as_deref())?,
    }))
}

/// A file that ends with a newline because editors do so.
pub(crate) fn without_newline(bytes: &mut Vec<u8>) {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
}

fn optional(
    one: &Authenticator,
    key: &str,
    named: Option<&Path>,
) -> Result<Option<Vec<u8>>, Faults> {
    named.map(|named| file(one, key, Some(named))).transpose()
}

fn file(one: &Authenticator, key: &str, named: Option<&Path>) -> Result<Vec<u8>, Faults> {
    // That the key is there was checked when the configuration was loaded.
    let named = named.unwrap_or(Path::new(""));
    let fault = |reason: String| {
        let message = format!("cannot read `{}`: {reason}", named.display());
        Faults::from(one.origin.fault(key, message))
    };
    let opened = crate::config::open_file(named).map_err(fault)?;
    let mut bytes = Vec::new();
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(opened, MOST_BYTES), &mut bytes);
    read.map_err(|error| fault(error.to_string()))?;
    Ok(bytes)
}
