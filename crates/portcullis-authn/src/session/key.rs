//! The key of the sessions, in a file of its own.

use std::fmt;
use std::io;
use std::path::Path;

use aws_lc_rs::hmac;

use super::Seal;
use super::cipher::Cipher;
use crate::encoding::random;

const LENGTH: usize = 32;

/// The key that all sessions are sealed with.
#[derive(Clone)]
pub struct SessionKey([u8; LENGTH]);

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(secret)")
    }
}

impl SessionKey {
    /// Reads the key, or creates one if there is no file. Of several programs that create one at the same
    /// time, all get the same.
    ///
    /// # Errors
    ///
    /// If the file can't be read or made, or does not hold exactly 32 bytes.
    pub fn load_or_create(path: &Path) -> Result<Self, io::Error> {
        if !path.try_exists()? {
            portcullis_files::create_private(path, &Self::random()?.0)?;
        }
        Self::load(path)
    }

    /// A key that is lost when this process ends.
    ///
    /// # Errors
    ///
    /// If the system can't provide random numbers.
    pub fn random() -> Result<Self, io::Error> {
        random().map(Self).map_err(io::Error::other)
    }

    fn load(path: &Path) -> Result<Self, io::Error> {
        let most = u64::try_from(LENGTH).unwrap_or(u64::MAX);
        let bytes = portcullis_files::read(path, most).map_err(io::Error::other)?;
        <[u8; LENGTH]>::try_from(bytes).map(Self).map_err(|_| {
            let message = format!("invalid session key: expected exactly {LENGTH} bytes");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }

    /// A seal for one purpose.
    pub(super) fn seal(&self, purpose: &str, version: &'static str) -> Seal {
        Seal::new(
            &hmac::Key::new(hmac::HMAC_SHA256, &self.0),
            purpose,
            version,
        )
    }
}

impl SessionKey {
    /// A cipher for one purpose.
    pub(super) fn cipher(&self, purpose: &str) -> Cipher {
        let master = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let own = hmac::sign(&master, format!("portcullis {purpose} v1").as_bytes());
        Cipher::new(own.as_ref())
    }
}
