//! How much space is left where a file is.

use std::path::Path;

/// Bytes that this user may still write where this path is, or would be.
///
/// # Errors
///
/// When nothing above it can be looked at. The error is the reason in plain words.
pub fn free_space(path: &Path) -> Result<u64, String> {
    let there = path.ancestors().find(|place| place.exists());
    let place = there.unwrap_or(Path::new("."));
    let found = nix::sys::statvfs::statvfs(place).map_err(|error| error.desc().to_owned())?;
    // Some systems have smaller types here.
    #[allow(
        clippy::useless_conversion,
        reason = "the types differ between systems"
    )]
    let (blocks, size) = (
        u64::from(found.blocks_available()),
        u64::from(found.fragment_size()),
    );
    Ok(blocks.saturating_mul(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_known_also_where_nothing_is_yet() {
        let dir = tempfile::tempdir().unwrap();
        let there = free_space(dir.path()).unwrap();
        assert!(there > 0);
        free_space(&dir.path().join("a/b/c")).unwrap();
    }
}
