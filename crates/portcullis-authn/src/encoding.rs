//! Bytes and their encodings: base64url, random numbers, digests, constant-time comparison.

use aws_lc_rs::{constant_time, digest, rand};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A SHA-256 digest.
pub(crate) type Digest = [u8; 32];

/// Bytes as base64url without padding.
pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads base64url without padding; of several texts for the same bytes, only the right one.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    let mut out = Digest::default();
    let digest = digest::digest(&digest::SHA256, bytes);
    for (to, from) in out.iter_mut().zip(digest.as_ref()) {
        *to = *from;
    }
    out
}

/// This many random bytes.
///
/// # Errors
///
/// If the system has none to give.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandom> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| NoRandom)?;
    Ok(bytes)
}

/// The system gave no random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system returned no random numbers")]
pub(crate) struct NoRandom;

/// Compares in a time that only depends on the lengths.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    constant_time::verify_slices_are_equal(a, b).is_ok()
}
