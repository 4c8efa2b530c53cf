//! Tokens in the form that any issuer makes them.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// What an issuer signs with.
#[must_use]
pub fn secret(issuer: &str) -> String {
    format!("{issuer}-0123456789abcdef0123456789abcdef")
}

/// Seconds since 1970, some from now.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the clock of the product is in a crate whose tests use this one"
)]
pub fn from_now(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap() + seconds
}

/// The claims of a good token.
#[must_use]
pub fn claims(issuer: &str, user: &str) -> Value {
    json!({"iss": issuer, "aud": "portal", "sub": user, "preferred_username": user,
        "iat": from_now(0), "exp": from_now(600)})
}

/// A token that this issuer signed.
#[must_use]
pub fn token(issuer: &str, claims: &Value) -> String {
    signed(
        &json!({"alg": "HS256", "typ": "JWT"}),
        claims,
        &secret(issuer),
    )
}

/// A token with any head, signed with any secret.
#[must_use]
pub fn signed(head: &Value, claims: &Value, secret: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(head), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, text.as_bytes()));
    format!("{text}.{signature}")
}

/// A token of `corp` for a subject.
#[must_use]
pub fn of(user: &str) -> String {
    token("corp", &claims("corp", user))
}

/// A token of `op` that is admin of everything.
#[must_use]
pub fn admin() -> String {
    let mut claims = claims("op", "oscar");
    claims["zuul"] = json!({"admin": ["*"]});
    token("op", &claims)
}
