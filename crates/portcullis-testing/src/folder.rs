//! A temporary folder with files.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary folder, gone with this value.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self(
            tempfile::Builder::new()
                .prefix("portcullis-test-")
                .tempdir()
                .unwrap(),
        )
    }

    /// The path of this name in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// The same as text, for command lines.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes over the file, in place.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        // A key that others can read is warned about.
        if path.extension().is_some_and(|ending| ending == "key") {
            std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        }
    }

    /// Writes a program into `bin`: a script for the shell.
    pub fn tool(&self, name: &str, script: &str) {
        let file = format!("bin/{name}");
        self.write(&file, format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(self.path(&file), Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes aside and renames into place, as editors do.
    pub fn replace(&self, name: &str, content: impl AsRef<[u8]>) {
        let aside = format!("{name}.aside");
        self.write(&aside, content);
        std::fs::rename(self.path(&aside), self.path(name)).unwrap();
    }

    /// Points a link elsewhere in one step, as a mounted `ConfigMap` does.
    pub fn link(&self, name: &str, target: &str) {
        let aside = self.path("..link");
        symlink(target, &aside).unwrap();
        std::fs::rename(aside, self.path(name)).unwrap();
    }

    /// What is in it, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root()).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Puts a text in place of a file, whole.
pub fn replace_file(file: &Path, text: &str) {
    let mut aside = file.as_os_str().to_owned();
    aside.push(".aside");
    std::fs::write(&aside, text)
        .and_then(|()| std::fs::rename(&aside, file))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}
