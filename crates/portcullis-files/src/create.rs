//! Creating files that only their owner can read.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Distinguishes files that one process makes at the same time.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Creates a file with these bytes, readable only by its owner, unless it exists. It is never visible half
/// written. Returns whether it was created: of several programs that do so at the same time, one creates it.
///
/// # Errors
///
/// When it can't be created.
pub fn create_private(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut aside = OsString::from(".");
    aside.push(name);
    aside.push(format!(".{process}-{number}"));
    let aside = path.with_file_name(aside);
    // A file of an earlier process of this number that did not get to remove it.
    match fs::remove_file(&aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A link is only made where there is nothing yet.
    let linked = write_new(&aside, bytes).and_then(|()| fs::hard_link(&aside, path));
    let removed = fs::remove_file(&aside);
    match linked {
        Ok(()) => removed.map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.exists() => Ok(false),
        Err(error) => Err(error),
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let made: Vec<bool> = std::thread::scope(|scope| {
            let make = |n: u8| {
                let file = &file;
                scope.spawn(move || create_private(file, &[n; 32]).unwrap())
            };
            let all: Vec<_> = (0..8).map(make).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(made.iter().filter(|made| **made).count(), 1);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read(&file).unwrap().len(), 32);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
