//! Keys that sign and verify, each for one algorithm only.
//!
//! The algorithm belongs to the key: nothing a token says can make a key be used in another way.

mod der;
mod jwk;
mod pem;
mod public_key;

use std::sync::Arc;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair,
    Ed25519KeyPair, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use aws_lc_rs::{error, hmac, rand};

pub(crate) use jwk::{Jwk, key_set};
pub use public_key::PublicKey;

use crate::encoding::{decode, encode};
use crate::settings::Algorithm;

/// How something is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signing {
    Hs256,
    Rs256,
    Es256,
    EdDsa,
}

impl Signing {
    /// Its name in the header of a token.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::Hs256, Self::Rs256, Self::Es256, Self::EdDsa];
        all.into_iter().find(|a| a.name() == name)
    }
}

impl From<Algorithm> for Signing {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Rs256 => Self::Rs256,
            Algorithm::Es256 => Self::Es256,
            Algorithm::EdDsa => Self::EdDsa,
        }
    }
}

/// A key that verifies.
#[derive(Debug, Clone)]
pub(crate) struct Verifier {
    signing: Signing,
    key: VerifyingKey,
}

#[derive(Debug, Clone)]
enum VerifyingKey {
    Shared(Arc<hmac::Key>),
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// A point of P-256, or an Ed25519 key.
    Curve(UnparsedPublicKey<Vec<u8>>),
}

impl Verifier {
    /// A shared secret.
    pub(crate) fn shared(secret: &[u8]) -> Self {
        Self {
            signing: Signing::Hs256,
            key: VerifyingKey::Shared(shared(secret)),
        }
    }

    /// A public key in PEM; the message says what was found instead.
    pub(crate) fn from_pem(algorithm: Algorithm, text: &[u8]) -> Result<Self, String> {
        let found = pem::public(text)?;
        match (algorithm, &found) {
            (Algorithm::Rs256, der::Public::Rsa { modulus, exponent }) => {
                Self::rsa(modulus, exponent)
            }
            (Algorithm::Es256, der::Public::P256 { point }) => Self::p256(point),
            (Algorithm::EdDsa, der::Public::Ed25519 { key }) => Self::ed25519(key),
            _ => Err(format!("expected {}, found {found}", needed(algorithm))),
        }
    }

    /// An RSA key of its numbers.
    fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Self, String> {
        let bits = der::bits(modulus);
        if !(2048..=8192).contains(&bits) {
            return Err(format!(
                "unsupported RSA key size of {bits} bits: expected 2048 to 8192"
            ));
        }
        let odd = exponent.last().is_some_and(|last| last % 2 == 1);
        if !odd || !(2..=33).contains(&der::bits(exponent)) {
            return Err("unsupported RSA public exponent".to_owned());
        }
        Ok(Self {
            signing: Signing::Rs256,
            key: VerifyingKey::Rsa(RsaPublicKeyComponents {
                n: strip(modulus).to_vec(),
                e: strip(exponent).to_vec(),
            }),
        })
    }

    /// A point of P-256, uncompressed.
    fn p256(point: &[u8]) -> Result<Self, String> {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point.to_vec());
        if point.len() != 65 || point.first() != Some(&4) || key.parse().is_err() {
            return Err("not a valid P-256 point".to_owned());
        }
        Ok(Self {
            signing: Signing::Es256,
            key: VerifyingKey::Curve(key),
        })
    }

    /// An Ed25519 key.
    fn ed25519(key: &[u8]) -> Result<Self, String> {
        if key.len() != 32 {
            return Err("invalid Ed25519 key: expected 32 bytes".to_owned());
        }
        Ok(Self {
            signing: Signing::EdDsa,
            key: VerifyingKey::Curve(UnparsedPublicKey::new(&ED25519, key.to_vec())),
        })
    }

    /// How what it verifies was signed.
    pub(crate) fn signing(&self) -> Signing {
        self.signing
    }

    /// Whether the signature (base64url) is this key's, of this message.
    pub(crate) fn verify(&self, message: &str, signature: &str) -> bool {
        let Some(signature) = decode(signature) else {
            return false;
        };
        let message = message.as_bytes();
        let verified = match &self.key {
            VerifyingKey::Shared(key) => hmac::verify(key, message, &signature),
            VerifyingKey::Rsa(key) => key.verify(&RSA_PKCS1_2048_8192_SHA256, message, &signature),
            VerifyingKey::Curve(key) => key.verify(message, &signature),
        };
        verified.is_ok()
    }
}

/// A key that signs.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    signing: Signing,
    key: SigningKey,
}

#[derive(Debug, Clone)]
enum SigningKey {
    Shared(Arc<hmac::Key>),
    Rsa(Arc<RsaKeyPair>),
    P256(Arc<EcdsaKeyPair>),
    Ed25519(Arc<Ed25519KeyPair>),
}

impl Signer {
    /// A shared secret.
    pub(crate) fn shared(secret: &[u8]) -> Self {
        Self {
            signing: Signing::Hs256,
            key: SigningKey::Shared(shared(secret)),
        }
    }

    /// A private key in PEM; the message says what was found instead, never what it holds.
    pub(crate) fn from_pem(algorithm: Algorithm, text: &[u8]) -> Result<Self, String> {
        let found = pem::private(text)?;
        let broken = |why: error::KeyRejected| format!("invalid private key: {why}");
        let key = match (algorithm, &found) {
            (Algorithm::Rs256, der::Private::Rsa { pkcs1 }) => {
                SigningKey::Rsa(Arc::new(RsaKeyPair::from_der(pkcs1).map_err(broken)?))
            }
            (Algorithm::Es256, der::Private::P256 { der }) => {
                let pair =
                    EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, der);
                SigningKey::P256(Arc::new(pair.map_err(broken)?))
            }
            (Algorithm::EdDsa, der::Private::Ed25519 { pkcs8 }) => {
                let pair = Ed25519KeyPair::from_pkcs8(pkcs8).map_err(broken)?;
                SigningKey::Ed25519(Arc::new(pair))
            }
            _ => return Err(format!("expected {}, found {found}", needed(algorithm))),
        };
        Ok(Self {
            signing: algorithm.into(),
            key,
        })
    }

    /// How it signs.
    pub(crate) fn signing(&self) -> Signing {
        self.signing
    }

    /// The signature of this message, base64url.
    pub(crate) fn sign(&self, message: &str) -> Option<String> {
        let message = message.as_bytes();
        let random = rand::SystemRandom::new();
        Some(match &self.key {
            SigningKey::Shared(key) => encode(hmac::sign(key, message)),
            SigningKey::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                let signed = pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                signed.ok()?;
                encode(signature)
            }
            SigningKey::P256(pair) => encode(pair.sign(&random, message).ok()?),
            SigningKey::Ed25519(pair) => encode(pair.sign(message)),
        })
    }
}

fn shared(secret: &[u8]) -> Arc<hmac::Key> {
    Arc::new(hmac::Key::new(hmac::HMAC_SHA256, secret))
}

fn needed(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Rs256 => "an RSA key",
        Algorithm::Es256 => "a P-256 key",
        Algorithm::EdDsa => "an Ed25519 key",
    }
}

/// A number without zeros in front.
fn strip(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|b| **b == 0).count();
    number.get(zeros..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
