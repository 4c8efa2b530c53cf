//! Notices that files changed, in whichever way: written over, renamed into place, or behind a link that was
//! swapped, as a mounted `ConfigMap` does it.
//!
//! What counts is the file at the end of all links: which one it is, its size and its times.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// How some files are at a moment. Differs from another one when any of them changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint(Vec<Option<[i64; 6]>>);

impl Fingerprint {
    /// How these files are now.
    pub fn take(files: &[PathBuf]) -> Self {
        let one = |file: &PathBuf| {
            let m = std::fs::metadata(file).ok()?;
            let (inode, size) = (m.ino().cast_signed(), m.size().cast_signed());
            Some([
                inode,
                size,
                m.mtime(),
                m.mtime_nsec(),
                m.ctime(),
                m.ctime_nsec(),
            ])
        };
        Self(files.iter().map(one).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn sees_writes_renames_link_swaps_and_removals() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for version in ["v1", "v2"] {
            std::fs::create_dir(at(version)).unwrap();
            std::fs::write(at(version).join("f"), version).unwrap();
        }
        symlink("v1", at("data")).unwrap();
        symlink("data/f", at("f")).unwrap();
        let files = vec![at("f")];
        let mut seen = vec![Fingerprint::take(&files)];
        assert_eq!(seen[0], Fingerprint::take(&files));
        symlink("v2", at("tmp")).unwrap();
        std::fs::rename(at("tmp"), at("data")).unwrap();
        seen.push(Fingerprint::take(&files));
        std::fs::write(at("v2").join("f"), "longer").unwrap();
        seen.push(Fingerprint::take(&files));
        std::fs::write(at("new"), "longer").unwrap();
        std::fs::rename(at("new"), at("v2").join("f")).unwrap();
        seen.push(Fingerprint::take(&files));
        std::fs::remove_file(at("v2").join("f")).unwrap();
        seen.push(Fingerprint::take(&files));
        for (i, one) in seen.iter().enumerate() {
            assert!(seen.iter().skip(i + 1).all(|other| other != one), "{i}");
        }
    }
}
