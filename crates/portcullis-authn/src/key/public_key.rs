//! Public keys that verify signatures over bytes, whatever was signed: RSA with PKCS 1 padding, ECDSA on P-256, and
//! Ed25519; digests are SHA-256.

use std::fmt;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

use super::der::Public;
use super::{Verifier, VerifyingKey, pem};

/// A public key.
#[derive(Clone)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Of PEM text.
    ///
    /// # Errors
    ///
    /// What was found instead.
    pub fn from_pem(text: &[u8]) -> Result<Self, String> {
        let verifier = match pem::public(text)? {
            Public::Rsa { modulus, exponent } => Verifier::rsa(&modulus, &exponent)?,
            Public::P256 { point } => {
                // Signatures are in DER here, where those of tokens have a fixed length.
                Verifier::p256(&point)?;
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
                return Ok(Self(VerifyingKey::Curve(key)));
            }
            Public::Ed25519 { key } => Verifier::ed25519(&key)?,
            other @ Public::Other(_) => {
                return Err(format!(
                    "expected an RSA, P-256 or Ed25519 key, found {other}"
                ));
            }
        };
        Ok(Self(verifier.key))
    }

    /// Whether the signature is this key's, of this message.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.0 {
            VerifyingKey::Rsa(key) => key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature),
            VerifyingKey::Curve(key) => key.verify(message, signature),
            VerifyingKey::Shared(_) => return false,
        };
        verified.is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey")
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair,
        Ed25519KeyPair, KeyPair,
    };
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn pem(key: &impl AsDer<PublicKeyX509Der<'static>>) -> String {
        let der = STANDARD.encode(key.as_der().unwrap().as_ref());
        format!("-----BEGIN PUBLIC KEY-----\n{der}\n-----END PUBLIC KEY-----\n")
    }

    #[test]
    fn signatures_of_p256_are_in_der() {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
        let key = PublicKey::from_pem(pem(pair.public_key()).as_bytes()).unwrap();
        let signature = pair.sign(&SystemRandom::new(), b"text").unwrap();
        assert!(key.verify(b"text", signature.as_ref()));
        assert!(!key.verify(b"other", signature.as_ref()));
        assert!(!key.verify(b"text", b""));
    }

    #[test]
    fn ed25519() {
        let pair = Ed25519KeyPair::generate().unwrap();
        let key = PublicKey::from_pem(pem(pair.public_key()).as_bytes()).unwrap();
        assert!(key.verify(b"text", pair.sign(b"text").as_ref()));
        assert!(!key.verify(b"other", pair.sign(b"text").as_ref()));
    }

    #[test]
    fn other_keys_are_named() {
        let pair = EcdsaKeyPair::generate(&ECDSA_P384_SHA384_ASN1_SIGNING).unwrap();
        let error = PublicKey::from_pem(pem(pair.public_key()).as_bytes()).unwrap_err();
        assert!(
            error.starts_with("expected an RSA, P-256 or Ed25519 key"),
            "{error}"
        );
        assert!(PublicKey::from_pem(b"text").is_err());
    }
}
