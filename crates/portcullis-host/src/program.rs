//! Finding a program.

use std::env::split_paths;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The path of a program: a bare name is looked for in the folders of `PATH`, but never in folders
/// that depend on where we are.
pub(crate) fn find(program: &Path, path: Option<OsString>) -> io::Result<PathBuf> {
    if program.components().count() != 1 || program.is_absolute() {
        return Ok(program.to_owned());
    }
    let runs = |candidate: &PathBuf| {
        let found = std::fs::metadata(candidate);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    split_paths(&path.unwrap_or_default())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(runs)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::join_paths;

    #[test]
    fn the_first_one_that_can_be_run() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (folder, mode) in [(&first, 0o644), (&second, 0o755)] {
            let file = folder.path().join("tool");
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        std::fs::create_dir(first.path().join("folder")).unwrap();
        let path =
            join_paths([Path::new(""), Path::new("."), first.path(), second.path()]).unwrap();
        let look = |name: &str| find(Path::new(name), Some(path.clone()));
        assert_eq!(look("tool").unwrap(), second.path().join("tool"));
        assert_eq!(look("folder").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(
            look("Cargo.toml").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        assert_eq!(look("/x/tool").unwrap(), Path::new("/x/tool"));
        assert_eq!(look("./tool").unwrap(), Path::new("./tool"));
        assert!(find(Path::new("tool"), None).is_err());
    }
}
