//! Helpers for tests: keys made for them and tokens signed by hand.

mod keys;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::encoding::encode;
use crate::settings::{Algorithm, AuthenticatorSettings, Keys, LoginSettings, Secret};

pub(crate) use keys::{Pair, pem};
pub(crate) use portcullis_testing::{Reply, Server};

/// A secret that is long enough.
pub(crate) const SECRET: &[u8] = b"corp-0123456789abcdef0123456789abcdef";

/// Seconds since 1970 at which tests happen.
pub(crate) const NOW: i64 = 1_800_000_000;

/// The time so many seconds from when tests happen.
pub(crate) fn at(delta: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(u64::try_from(NOW + delta).unwrap())
}

/// Settings with these keys; the issuer is named like the authenticator.
pub(crate) fn settings(name: &str, keys: Keys) -> AuthenticatorSettings {
    AuthenticatorSettings {
        audience: "portal".to_owned(),
        realm: format!("realm-{name}"),
        ..AuthenticatorSettings::new(name, keys)
    }
}

/// Settings with a shared secret.
pub(crate) fn shared(name: &str) -> AuthenticatorSettings {
    settings(name, Keys::Shared(Secret(SECRET.to_vec())))
}

/// Settings with this key pair.
pub(crate) fn paired(name: &str, pair: &Pair) -> AuthenticatorSettings {
    let keys = Keys::Pair {
        algorithm: pair.algorithm,
        public: pair.public_pem().into_bytes(),
        private: Some(Secret(pair.private_pem().into_bytes())),
    };
    settings(name, keys)
}

/// Settings of a provider.
pub(crate) fn provider(issuer: &str, keys_url: Option<String>) -> AuthenticatorSettings {
    AuthenticatorSettings {
        issuer: issuer.to_owned(),
        ..settings("sso", Keys::Provider { keys_url })
    }
}

/// How people sign in there.
pub(crate) fn login(client_secret: Option<&str>) -> LoginSettings {
    LoginSettings {
        client_id: "client one".to_owned(),
        client_secret: client_secret.map(|s| Secret(s.as_bytes().to_vec())),
        scopes: Vec::new(),
    }
}

/// Claims of a good token of this issuer, with these changes; null leaves one out.
pub(crate) fn claims(issuer: &str, changes: &Value) -> Value {
    let mut claims = json!({
        "iss": issuer, "aud": "portal", "sub": "bob", "iat": NOW, "exp": NOW + 600,
    });
    let members = claims.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap_or(&Map::new()) {
        members.insert(name.clone(), value.clone());
        if value.is_null() {
            members.remove(name);
        }
    }
    claims
}

/// What signs a token.
pub(crate) enum By<'a> {
    /// Nothing at all.
    Nobody,
    /// HS256 with these bytes.
    Shared(&'a [u8]),
    /// A key pair.
    Pair(&'a Pair),
}

/// A token of exactly these texts.
pub(crate) fn raw(header: &str, claims: &str, by: &By<'_>) -> String {
    let message = format!("{}.{}", encode(header), encode(claims));
    let signature = match by {
        By::Nobody => String::new(),
        By::Shared(secret) => {
            let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, secret);
            encode(aws_lc_rs::hmac::sign(&key, message.as_bytes()))
        }
        By::Pair(pair) => encode(pair.sign(message.as_bytes())),
    };
    format!("{message}.{signature}")
}

/// A token of these claims with this header.
pub(crate) fn token_with(header: &Value, claims: &Value, by: &By<'_>) -> String {
    raw(&header.to_string(), &claims.to_string(), by)
}

/// A token of these claims, with the header that belongs to who signs.
pub(crate) fn token(claims: &Value, by: &By<'_>) -> String {
    let alg = match by {
        By::Nobody => "none",
        By::Shared(_) => "HS256",
        By::Pair(pair) => match pair.algorithm {
            Algorithm::Rs256 => "RS256",
            Algorithm::Es256 => "ES256",
            Algorithm::EdDsa => "EdDSA",
        },
    };
    token_with(&json!({ "alg": alg, "typ": "JWT" }), claims, by)
}
