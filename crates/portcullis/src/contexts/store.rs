//! The file on the disk: where it is, who can read it, and how it is changed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use portcullis_files::{Use, check_own};

use super::{ContextError, Contexts};
use crate::output;

/// Larger files are not read.
const LARGEST: u64 = 1 << 20;

/// Where contexts are kept; nothing if the environment names no place.
fn path() -> Option<PathBuf> {
    let absolute = |name| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".config"));
    let shared = absolute("XDG_CONFIG_HOME").or_else(home)?;
    Some(shared.join("portcullis/config.yaml"))
}

/// All contexts; none if there is no file.
pub(crate) fn read() -> Result<Contexts, ContextError> {
    match path() {
        Some(path) => read_at(&path),
        None => Ok(Contexts::default()),
    }
}

fn read_at(path: &Path) -> Result<Contexts, ContextError> {
    let label = path.display().to_string();
    let wrong = |why: String| ContextError::File(format!("{label}: {why}"));
    if path.symlink_metadata().is_err() {
        return Ok(Contexts::default());
    }
    check_own(path, Use::Key).map_err(wrong)?;
    let text = portcullis_files::read_text(path, LARGEST).map_err(wrong)?;
    Contexts::parse(&label, &text)
}

/// Changes contexts: reads them, hands them over, and writes what comes of it. Of several programs that do so at the
/// same time, each sees what the one before it wrote.
pub(crate) fn change<T, E: From<ContextError>>(
    change: impl FnOnce(&mut Contexts) -> Result<T, E>,
) -> Result<T, E> {
    let missing =
        "no place for contexts: neither XDG_CONFIG_HOME nor HOME is set to an absolute path";
    let path = path().ok_or_else(|| ContextError::File(missing.to_owned()))?;
    change_at(&path, change)
}

fn change_at<T, E: From<ContextError>>(
    path: &Path,
    change: impl FnOnce(&mut Contexts) -> Result<T, E>,
) -> Result<T, E> {
    let wrong = |error: std::io::Error| {
        let why = output::reason(&error);
        ContextError::File(format!("cannot write {}: {why}", path.display()))
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(wrong)?;
    // The lock ends with the file.
    let lock = lock(&path.with_extension("yaml.lock")).map_err(wrong)?;
    let before = read_at(path)?;
    let mut after = before.clone();
    let done = change(&mut after)?;
    if after != before {
        write(folder, path, &after.text()).map_err(wrong)?;
    }
    drop(lock);
    Ok(done)
}

fn lock(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.lock()?;
    Ok(file)
}

/// Puts the file in place whole; temporary files are for their owner alone.
fn write(folder: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".config-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    // What a link leads to is changed, not the link.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::Context;
    use super::*;

    fn named(name: &str) -> Context {
        Context {
            name: name.to_owned(),
            server: "https://a.example".to_owned(),
            ca: None,
            token: None,
            login: None,
        }
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_file_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("portcullis/config.yaml");
        assert_eq!(read_at(&path).unwrap(), Contexts::default());
        let put = |contexts: &mut Contexts| -> Result<(), ContextError> {
            contexts.put(named("a"));
            Ok(())
        };
        change_at(&path, put).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        for wrong in [0o644, 0o660, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(wrong)).unwrap();
            let read = read_at(&path);
            // A group of one's own may be trusted.
            assert!(read.is_err() || wrong == 0o660, "{wrong:o}");
            assert!(
                change_at(&path, put).is_err() || wrong == 0o660,
                "{wrong:o}"
            );
        }
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        std::thread::scope(|scope| {
            for number in 0..16 {
                let path = &path;
                scope.spawn(move || {
                    change_at(path, |contexts| {
                        contexts.put(named(&format!("c{number}")));
                        Ok::<_, ContextError>(())
                    })
                    .unwrap();
                });
            }
        });
        assert_eq!(read_at(&path).unwrap().contexts.len(), 16);
        // Nothing is left but the file and its lock.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_change_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        let failed = change_at(&path, |contexts| {
            contexts.put(named("a"));
            Err::<(), _>(ContextError::Unknown("x".to_owned()))
        });
        assert!(failed.is_err());
        assert_eq!(read_at(&path).unwrap(), Contexts::default());
    }
}
