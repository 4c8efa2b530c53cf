//! Creating tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::authenticators::{Authenticator, Authenticators};
use crate::encoding::{encode, random};
use crate::token::LONGEST;

/// Claims that are never given by hand.
const RESERVED: [&str; 6] = ["iss", "aud", "sub", "iat", "exp", "zuul"];

/// What a token shall say.
#[derive(Debug, Clone)]
pub struct Mint {
    /// Of whom.
    pub subject: String,
    /// Where its bearer is admin; `*` is everywhere.
    pub tenants: Vec<String>,
    /// Further claims.
    pub claims: Map<String, Value>,
    /// How long it is good.
    pub expires_in: Duration,
}

/// Why a token can't be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    /// Unknown authenticator; the known ones.
    #[error("unknown authenticator{}", known(.0))]
    Unknown(Vec<String>),
    /// Its tokens can only be verified here.
    #[error(
        "this authenticator can't issue tokens: it has neither a secret (secretFile) nor a private key (privateKeyFile)"
    )]
    NoPrivateKey,
    /// Its tokens can't grant admin rights.
    #[error(
        "this authenticator can't make the bearer an admin of a tenant (allowAuthzOverride is not set)"
    )]
    OverrideNotAllowed,
    /// This claim is not given by hand.
    #[error("the claim `{0}` can't be set")]
    Reserved(String),
    /// The token would be older than tokens of this authenticator may be.
    #[error("tokens of this authenticator are valid for at most {} s (maxValidityTime)", .0.as_secs())]
    TooLong(Duration),
    /// The token would never be good.
    #[error("a token must be valid for at least one second")]
    TooShort,
    /// The token has no subject.
    #[error("a token needs a subject")]
    NoSubject,
    /// The claim that names people is not text.
    #[error("the claim `{0}` identifies the user, so it must be a string")]
    UidNotText(String),
    /// The token would be too long to be accepted.
    #[error("the token would be longer than 16 KiB: give fewer or shorter claims")]
    TooLarge,
    /// The key didn't sign, or no random numbers were available.
    #[error("the token could not be signed")]
    Failed,
}

fn known(names: &[String]) -> String {
    match names {
        [] => "; none is configured".to_owned(),
        names => format!("; expected one of {}", names.join(", ")),
    }
}

impl Authenticators {
    /// Makes a token of this authenticator.
    ///
    /// # Errors
    ///
    /// If this authenticator can't create such a token, or would reject it.
    pub fn mint(
        &self,
        authenticator: &str,
        wish: &Mint,
        now: SystemTime,
    ) -> Result<String, MintError> {
        let found = self
            .list()
            .iter()
            .find(|a| a.settings.name == authenticator);
        let found = found.ok_or_else(|| {
            let names = self.list().iter().map(|a| a.settings.name.clone());
            MintError::Unknown(names.collect())
        })?;
        found.mint(wish, now)
    }
}

impl Authenticators {
    /// The authenticators that can create tokens; with `with_override`, only those whose tokens may grant
    /// admin rights.
    pub fn signers(&self, with_override: bool) -> Vec<&str> {
        let can = |one: &&Authenticator| {
            one.signer.is_some() && (one.settings.allow_authz_override || !with_override)
        };
        let names = self.list().iter().filter(can);
        names.map(|one| one.settings.name.as_str()).collect()
    }
}

impl Authenticator {
    fn mint(&self, wish: &Mint, now: SystemTime) -> Result<String, MintError> {
        let settings = &self.settings;
        let signer = self.signer.as_ref().ok_or(MintError::NoPrivateKey)?;
        if !wish.tenants.is_empty() && !settings.allow_authz_override {
            return Err(MintError::OverrideNotAllowed);
        }
        if let Some(name) = RESERVED
            .iter()
            .find(|name| wish.claims.contains_key(**name))
        {
            return Err(MintError::Reserved((*name).to_owned()));
        }
        if wish.subject.is_empty() {
            return Err(MintError::NoSubject);
        }
        if wish.expires_in < Duration::from_secs(1) {
            return Err(MintError::TooShort);
        }
        if let Some(most) = settings.max_validity.filter(|most| wish.expires_in > *most) {
            return Err(MintError::TooLong(most));
        }

        let issued = now
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let mut claims = wish.claims.clone();
        let mut say = |name: &str, value: Value| claims.insert(name.to_owned(), value);
        say("iss", json!(settings.issuer));
        say("aud", json!(settings.audience));
        say("sub", json!(wish.subject));
        say("iat", json!(issued));
        say(
            "exp",
            json!(issued.saturating_add(wish.expires_in.as_secs())),
        );
        if !wish.tenants.is_empty() {
            say("zuul", json!({ "admin": wish.tenants }));
        }
        if !claims.contains_key("jti") {
            let id = random::<16>().map_err(|_| MintError::Failed)?;
            claims.insert("jti".to_owned(), json!(encode(id)));
        }
        let uid = claims.entry(settings.uid_claim.clone());
        if !uid.or_insert_with(|| json!(wish.subject)).is_string() {
            return Err(MintError::UidNotText(settings.uid_claim.clone()));
        }

        let header = json!({ "alg": signer.signing().name(), "typ": "JWT" });
        let (header, claims) = (header.to_string(), Value::Object(claims).to_string());
        let message = format!("{}.{}", encode(header), encode(claims));
        let signature = signer.sign(&message).ok_or(MintError::Failed)?;
        let token = format!("{message}.{signature}");
        if token.len() > LONGEST {
            return Err(MintError::TooLarge);
        }
        Ok(token)
    }
}

#[cfg(test)]
mod tests;
