//! The repository that contains these tests.

use std::path::PathBuf;

/// Its root.
pub(crate) fn repository() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}
