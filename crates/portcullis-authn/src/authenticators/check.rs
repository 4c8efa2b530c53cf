//! Settings to authenticators: every fault is found here, before anything is used.

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_document::Fault;

use super::{Authenticator, Keyring};
use crate::key::{Signer, Verifier};
use crate::provider::Provider;
use crate::settings::{AuthenticatorSettings, Keys, SettingsFault};

/// What is wrong with them together.
pub(super) fn together(list: &[AuthenticatorSettings]) -> Vec<SettingsFault> {
    let mut faults = Vec::new();
    let mut names = HashMap::new();
    let mut issuers = HashMap::new();
    let mut default: Option<&str> = None;
    for (place, settings) in list.iter().enumerate() {
        let mut fault = |key: &str, message: String| faults.push((place, Fault::at(key, message)));
        if names.insert(&settings.name, place).is_some() {
            fault(
                "name",
                format!("the name `{}` is used by two authenticators", settings.name),
            );
        }
        if let Some(other) = issuers
            .insert(&settings.issuer, place)
            .and_then(|p| list.get(p))
        {
            let message = format!(
                "the authenticator `{}` has the issuer `{}` too: issuers must be unique",
                other.name, settings.issuer
            );
            fault("issuer", message);
        }
        if settings.is_default {
            match default {
                Some(other) => fault("default", format!("`{other}` is already the default")),
                None => default = Some(&settings.name),
            }
        }
    }
    faults
}

/// One authenticator, or what is wrong with it.
pub(super) fn one(
    place: usize,
    settings: AuthenticatorSettings,
) -> Result<Authenticator, Vec<SettingsFault>> {
    let mut faults = Vec::new();
    let mut fault = |key: &str, message: String| faults.push((place, Fault::at(key, message)));
    for (key, value) in [
        ("name", &settings.name),
        ("issuer", &settings.issuer),
        ("audience", &settings.audience),
        ("realm", &settings.realm),
        ("uidClaim", &settings.uid_claim),
    ] {
        if value.is_empty() {
            fault(key, "must not be empty".to_owned());
        }
    }
    if settings.realm.chars().any(char::is_control) {
        fault(
            "realm",
            "invalid realm: control characters are not allowed".to_owned(),
        );
    }
    if let Some(login) = &settings.login {
        if !matches!(settings.keys, Keys::Provider { .. }) {
            let message = "only the driver OpenIDConnect supports sign-in";
            fault("clientId", message.to_owned());
        } else if login.client_id.is_empty() {
            fault("clientId", "must not be empty".to_owned());
        }
        if login.client_secret.as_ref().is_some_and(|s| s.0.is_empty()) {
            fault("clientSecretFile", "the secret is empty".to_owned());
        }
    }
    let keys = match &settings.keys {
        Keys::Shared(secret) => shared(&secret.0).map_err(|message| ("secretFile", message)),
        Keys::Pair {
            algorithm,
            public,
            private,
        } => {
            let private = private.as_ref().map(|secret| secret.0.as_slice());
            pair(*algorithm, public, private)
        }
        Keys::Provider { .. } => {
            Provider::new(&settings).map(|provider| (Keyring::Provider(Arc::new(provider)), None))
        }
    };
    let made = match keys {
        Ok(made) => Some(made),
        Err((key, message)) => {
            // An empty issuer was reported already.
            if key != "issuer" || !settings.issuer.is_empty() {
                fault(key, message);
            }
            None
        }
    };
    match made {
        Some((keys, signer)) if faults.is_empty() => Ok(Authenticator {
            settings,
            keys,
            signer,
        }),
        _ => Err(faults),
    }
}

/// As long as what it signs with: RFC 7518, section 3.2.
const SHORTEST_SECRET: usize = 32;

type KeyringAndSigner = (Keyring, Option<Signer>);

fn shared(secret: &[u8]) -> Result<KeyringAndSigner, String> {
    if secret.is_empty() {
        return Err("the secret is empty".to_owned());
    }
    if secret.trim_ascii_start().starts_with(b"-----BEGIN ") {
        return Err("HS256 needs a shared secret, found a PEM file".to_owned());
    }
    let length = secret.len();
    if length < SHORTEST_SECRET {
        return Err(format!(
            "the secret has {length} bytes: HS256 needs at least {SHORTEST_SECRET}: a shorter one \
             can be guessed from a single token"
        ));
    }
    let keys = Keyring::Fixed(Verifier::shared(secret));
    Ok((keys, Some(Signer::shared(secret))))
}

fn pair(
    algorithm: crate::settings::Algorithm,
    public: &[u8],
    private: Option<&[u8]>,
) -> Result<KeyringAndSigner, (&'static str, String)> {
    let verifier = Verifier::from_pem(algorithm, public).map_err(|e| ("publicKeyFile", e))?;
    let signer = match private {
        None => None,
        Some(private) => {
            let signer = Signer::from_pem(algorithm, private).map_err(|e| ("privateKeyFile", e))?;
            let message = "do these keys belong together?";
            let signature = signer.sign(message);
            if !signature.is_some_and(|signature| verifier.verify(message, &signature)) {
                let message = "this private key does not belong to the public key";
                return Err(("privateKeyFile", message.to_owned()));
            }
            Some(signer)
        }
    };
    Ok((Keyring::Fixed(verifier), signer))
}
