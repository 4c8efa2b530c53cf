//! Encrypted contents of cookies, which only this server can read.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};

use crate::encoding::{decode, encode};

/// Encrypts and decrypts with one key.
pub(super) struct Cipher(Option<RandomizedNonceKey>);

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher(secret)")
    }
}

impl Cipher {
    /// With these 32 bytes as its key.
    pub(super) fn new(key: &[u8]) -> Self {
        Self(RandomizedNonceKey::new(&AES_256_GCM, key).ok())
    }

    /// The content, encrypted for this purpose, base64url.
    pub(super) fn close(&self, content: &str, purpose: &str) -> Option<String> {
        let mut bytes = content.as_bytes().to_vec();
        let aad = Aad::from(purpose.as_bytes());
        let key = self.0.as_ref()?;
        let nonce = key.seal_in_place_append_tag(aad, &mut bytes).ok()?;
        Some(encode([nonce.as_ref().as_slice(), &bytes].concat()))
    }

    /// What was encrypted for this purpose.
    pub(super) fn open(&self, sealed: &str, purpose: &str) -> Option<String> {
        let bytes = decode(sealed)?;
        let (nonce, rest) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut rest = rest.to_vec();
        let aad = Aad::from(purpose.as_bytes());
        let plain = self.0.as_ref()?.open_in_place(nonce, aad, &mut rest).ok()?;
        String::from_utf8(plain.to_vec()).ok()
    }
}
