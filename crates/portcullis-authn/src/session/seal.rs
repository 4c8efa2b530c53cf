//! Signed content, for one purpose.

use aws_lc_rs::hmac;

use crate::encoding::{decode, encode};

/// Signs and checks for one purpose and version.
#[derive(Debug)]
pub(crate) struct Seal {
    version: &'static str,
    key: hmac::Key,
}

impl Seal {
    /// With a key that is for this purpose only.
    pub(super) fn new(master: &hmac::Key, purpose: &str, version: &'static str) -> Self {
        let own = hmac::sign(master, format!("portcullis {purpose} {version}").as_bytes());
        Self {
            version,
            key: hmac::Key::new(hmac::HMAC_SHA256, own.as_ref()),
        }
    }

    /// `version.content.signature`, for a cookie.
    pub(crate) fn close(&self, content: &[u8]) -> String {
        let message = format!("{}.{}", self.version, encode(content));
        let signature = self.mark(message.as_bytes());
        format!("{message}.{signature}")
    }

    /// The content, if the signature is right.
    pub(crate) fn open(&self, sealed: &str) -> Option<Vec<u8>> {
        let (message, signature) = sealed.rsplit_once('.')?;
        if !self.is_mark(message.as_bytes(), signature) {
            return None;
        }
        let (version, content) = message.split_once('.')?;
        if version != self.version {
            return None;
        }
        decode(content)
    }

    /// The signature of this, base64url.
    pub(crate) fn mark(&self, message: &[u8]) -> String {
        encode(hmac::sign(&self.key, message))
    }

    /// Whether this is the signature, found in a time that doesn't depend on where it differs.
    pub(crate) fn is_mark(&self, message: &[u8], given: &str) -> bool {
        decode(given).is_some_and(|given| hmac::verify(&self.key, message, &given).is_ok())
    }
}
