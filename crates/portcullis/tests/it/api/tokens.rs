//! Tokens as any issuer makes them.

use std::time::UNIX_EPOCH;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use portcullis_core::clock;
use serde_json::{Value, json};

/// What an issuer signs with.
pub(super) fn secret(issuer: &str) -> String {
    format!("{issuer}-0123456789abcdef0123456789abcdef")
}

/// Seconds since 1970, some from now.
pub(super) fn from_now(seconds: i64) -> i64 {
    let now = clock::wall().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap() + seconds
}

/// The claims of a good token.
pub(super) fn claims(issuer: &str, user: &str) -> Value {
    json!({"iss": issuer, "aud": "portal", "sub": user, "preferred_username": user,
        "iat": from_now(0), "exp": from_now(600)})
}

/// A token that this issuer signed.
pub(super) fn token(issuer: &str, claims: &Value) -> String {
    signed(
        &json!({"alg": "HS256", "typ": "JWT"}),
        claims,
        &secret(issuer),
    )
}

/// A token with any head, signed with any secret.
pub(super) fn signed(head: &Value, claims: &Value, secret: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(head), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, text.as_bytes()));
    format!("{text}.{signature}")
}
