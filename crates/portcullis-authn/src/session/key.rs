//! The key of the sessions, in a file of its own.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use aws_lc_rs::hmac;

use super::Seal;
use super::cipher::Cipher;
use crate::encoding::{encode, random};

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
    /// Reads the key, or makes one where there is no file. Of several programs that make one at the same
    /// time, all get the same.
    ///
    /// # Errors
    ///
    /// If the file can't be read or made, or does not hold exactly 32 bytes.
    pub fn load_or_create(path: &Path) -> Result<Self, io::Error> {
        match Self::load(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => return result,
        }
        let key = Self::random()?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut aside = name.to_os_string();
        let number = random::<8>().map_err(io::Error::other)?;
        aside.push(format!(".{}", encode(number)));
        let aside = path.with_file_name(aside);
        let written = write_new(&aside, &key.0);
        // A link is only made where there is nothing yet.
        let linked = written.and_then(|()| fs::hard_link(&aside, path));
        let removed = fs::remove_file(&aside);
        match linked {
            Ok(()) => removed.map(|()| key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(path),
            Err(error) => Err(error),
        }
    }

    /// A key that is forgotten with this process.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers to give.
    pub fn random() -> Result<Self, io::Error> {
        random().map(Self).map_err(io::Error::other)
    }

    fn load(path: &Path) -> Result<Self, io::Error> {
        let mut bytes = Vec::with_capacity(LENGTH + 1);
        let most = u64::try_from(LENGTH + 1).unwrap_or(u64::MAX);
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        <[u8; LENGTH]>::try_from(bytes).map(Self).map_err(|_| {
            let message = format!("a session key has exactly {LENGTH} bytes, this file has not");
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

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
