//! A certificate and its private key.

use std::fmt;

use rcgen::{KeyPair, PublicKeyData};

use crate::certificate::Certificate;

/// A private key in PEM. It is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(String);

impl SecretKey {
    pub(crate) fn new(pem: String) -> Self {
        Self(pem)
    }

    /// The text.
    pub fn pem(&self) -> &str {
        &self.0
    }

    /// Whether it is the key of that certificate.
    pub(crate) fn is_of(&self, certificate: &Certificate) -> bool {
        let pair = KeyPair::from_pem(&self.0);
        pair.is_ok_and(|pair| pair.subject_public_key_info() == certificate.public_key)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

/// A certificate with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate.
    pub certificate: Certificate,
    /// Its private key.
    pub key: SecretKey,
}
