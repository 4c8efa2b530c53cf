//! The directory that the program keeps its data in.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

use crate::access::{Entry, FileIdentity, Sharing, owned};

const STICKY: u32 = 0o1000;

/// Makes the directory for its owner alone if it is not there, and checks who could put something
/// into it or in its place. What is odd but not rejected is given back.
///
/// # Errors
///
/// When it can't be made, belongs to another user, or can be written or replaced by others.
pub fn prepare_directory(path: &Path) -> Result<Vec<String>, String> {
    let wrong = |reason: String| format!("the data directory `{}`: {reason}", path.display());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => wrong("it is not a directory".to_owned()),
            _ => wrong(format!("it can't be created: {error}")),
        })?;
    check(path, &FileIdentity::own())
        .map(|warnings| warnings.into_iter().map(wrong).collect())
        .map_err(wrong)
}

fn check(path: &Path, own: &FileIdentity) -> Result<Vec<String>, String> {
    let unknown = |error: std::io::Error| format!("it can't be examined: {error}");
    let link = fs::symlink_metadata(path).map_err(unknown)?;
    if link.is_symlink() {
        owned(Entry::of(&link), own)
            .map_err(|reason| format!("the symbolic link can't be trusted: {reason}"))?;
    }
    let target = fs::canonicalize(path).map_err(unknown)?;
    let mut warnings = Vec::new();
    for place in target.ancestors() {
        let metadata = fs::metadata(place).map_err(unknown)?;
        let entry = Entry::of(&metadata);
        let is_volume = place
            .parent()
            .and_then(|parent| fs::metadata(parent).ok())
            .is_some_and(|parent| parent.dev() != metadata.dev());
        let told = if place == target {
            itself(entry, is_volume, own)?
        } else {
            above(entry, is_volume, own)
                .map_err(|reason| format!("`{}`, which it is in: {reason}", place.display()))?
        };
        warnings.extend(told);
    }
    Ok(warnings)
}

/// The directory. Volumes of Kubernetes are writable for everybody in their container; what is in them
/// is checked file by file.
fn itself(entry: Entry, is_volume: bool, own: &FileIdentity) -> Result<Option<String>, String> {
    owned(entry, own)?;
    let shown = entry.shown();
    match entry.writers(own) {
        Sharing::Owner => Ok(None),
        Sharing::OwnGroup => Ok(Some(format!("its group can write to it ({shown})"))),
        Sharing::Others if is_volume => Ok(Some(format!(
            "others can write to it ({shown}), tolerated because it is a mounted volume"
        ))),
        Sharing::Others => Err(format!(
            "others can write to it ({shown}): run `chmod go-w`"
        )),
    }
}

/// A directory above it: others must not be able to put another one in its place.
fn above(entry: Entry, is_volume: bool, own: &FileIdentity) -> Result<Option<String>, String> {
    let is_open = entry.mode & 0o002 != 0 && entry.mode & STICKY == 0;
    match is_open {
        false => Ok(None),
        true if is_volume && entry.is_trusted(own) => Ok(None),
        true => Err(format!(
            "others can replace what is in it ({}): run `chmod o-w`, or `chmod +t`",
            entry.shown()
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn it_is_made_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("a/b");
        assert_eq!(prepare_directory(&made), Ok(Vec::new()));
        for place in [made.clone(), folder.path().join("a")] {
            assert_eq!(fs::metadata(place).unwrap().mode() & 0o777, 0o700);
        }
        assert_eq!(prepare_directory(&made), Ok(Vec::new()));
    }

    #[test]
    fn one_that_others_can_write_to_is_refused_with_owner_and_mode() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let link = folder.path().join("link");
        symlink(&data, &link).unwrap();
        for mode in [0o777, 0o1777, 0o702] {
            set_mode(&data, mode);
            for path in [&data, &link] {
                let wrong = prepare_directory(path).unwrap_err();
                assert!(
                    wrong.contains("others can write to it (owner uid "),
                    "{wrong}"
                );
                assert!(wrong.contains(&format!("mode {mode:04o}")), "{wrong}");
                assert!(wrong.contains(&path.display().to_string()), "{wrong}");
            }
        }
        set_mode(&data, 0o755);
        assert_eq!(prepare_directory(&link), Ok(Vec::new()));
    }

    #[test]
    fn one_that_others_can_replace_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        let data = open.join("data");
        assert_eq!(prepare_directory(&data), Ok(Vec::new()));
        set_mode(&open, 0o777);
        let wrong = prepare_directory(&data).unwrap_err();
        assert!(
            wrong.contains("others can replace what is in it"),
            "{wrong}"
        );
        set_mode(&open, 0o1777);
        assert_eq!(prepare_directory(&data), Ok(Vec::new()));
    }

    #[test]
    fn a_volume_may_be_open_but_must_not_be_of_another_user() {
        let own = FileIdentity::own();
        let entry = |owner: u32, mode: u32| Entry {
            owner,
            group: 4_000_000_000,
            mode,
        };
        let me = nix::unistd::geteuid().as_raw();
        assert!(itself(entry(me, 0o777), true, &own).unwrap().is_some());
        assert!(itself(entry(0, 0o2775), true, &own).unwrap().is_some());
        assert!(itself(entry(me, 0o777), false, &own).is_err());
        assert!(itself(entry(me, 0o775), false, &own).is_err());
        assert!(itself(entry(4_000_000_000, 0o700), true, &own).is_err());
        assert!(above(entry(0, 0o777), true, &own).is_ok());
        assert!(above(entry(4_000_000_000, 0o777), true, &own).is_err());
        assert!(above(entry(0, 0o777), false, &own).is_err());
    }

    #[test]
    fn what_is_not_a_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let wrong = prepare_directory(&file).unwrap_err();
        assert!(wrong.contains("it is not a directory"), "{wrong}");
    }
}
