//! A temporary folder with files.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary folder, gone with this value.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(
            tempfile::Builder::new()
                .prefix("portcullis-it-")
                .tempdir()
                .unwrap(),
        )
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// The same as text, for command lines.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes over the file, in place.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        // A key that others can read is warned about.
        if path.extension().is_some_and(|ending| ending == "key") {
            std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        }
    }

    /// Writes a program into `bin`: a script for the shell.
    pub(crate) fn tool(&self, name: &str, script: &str) {
        let file = format!("bin/{name}");
        self.write(&file, format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(self.path(&file), Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes aside and renames into place, as editors do.
    pub(crate) fn replace(&self, name: &str, content: impl AsRef<[u8]>) {
        let aside = format!("{name}.aside");
        self.write(&aside, content);
        std::fs::rename(self.path(&aside), self.path(name)).unwrap();
    }

    /// Points a link elsewhere in one step, as a mounted `ConfigMap` does.
    pub(crate) fn link(&self, name: &str, target: &str) {
        let aside = self.path("..link");
        symlink(target, &aside).unwrap();
        std::fs::rename(aside, self.path(name)).unwrap();
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root()).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
