//! Finds the manifests below a directory, and the current state of each.
//!
//! Links are followed, as a mounted `ConfigMap` needs it; a directory inside itself is not entered
//! again. What can't be looked at is distinguished from what is gone.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::words;

/// More files, or other things in the directories, are not looked at.
pub(super) const MAX_ENTRIES: usize = 100_000;
/// Deeper directories are not entered.
const MAX_DEPTH: usize = 32;

/// Which file it is, its size and its times: differs when the file changed, however.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Print {
    file: (u64, u64),
    pub(super) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Print {
    fn of(m: &Metadata) -> Self {
        Self {
            file: (m.dev(), m.ino()),
            size: m.size(),
            modified: (m.mtime(), m.mtime_nsec()),
            changed: (m.ctime(), m.ctime_nsec()),
        }
    }

    /// When the file was last changed, in seconds since 1970.
    pub(super) fn changed_at(&self) -> i64 {
        self.changed.0
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Walk {
    /// Manifests by their path below the directory.
    pub(super) files: BTreeMap<PathBuf, Print>,
    /// What could not be looked at, and why. Nothing is known of what is below.
    pub(super) unknown: BTreeMap<PathBuf, String>,
}

impl Walk {
    /// Looks at everything below `root`.
    pub(super) fn take(root: &Path, max_entries: usize) -> Self {
        let mut walk = Self::default();
        let mut left = max_entries;
        let mut inside = Vec::new();
        walk.enter(root, Path::new(""), &mut inside, &mut left);
        walk
    }

    /// Whether a file that wasn't found may be there all the same.
    pub(super) fn may_have(&self, file: &Path) -> bool {
        self.unknown.keys().any(|place| file.starts_with(place))
    }

    fn enter(&mut self, root: &Path, below: &Path, inside: &mut Vec<(u64, u64)>, left: &mut usize) {
        let directory = root.join(below);
        let entries = match fs::metadata(&directory).and_then(|m| Ok((m, read(&directory, *left)?)))
        {
            Ok((metadata, entries)) => {
                let this = (metadata.dev(), metadata.ino());
                if inside.contains(&this) {
                    return;
                }
                inside.push(this);
                entries
            }
            Err(error) if is_gone(&error) && !inside.is_empty() => return,
            Err(error) => return self.unknown(below, words(&error)),
        };
        let Entries { entries, complete } = entries;
        if !complete {
            let why = format!("there are more than {MAX_ENTRIES} files, not all are read");
            self.unknown(below, why);
        }
        *left -= entries.len().min(*left);
        for entry in entries {
            self.look_at(root, &below.join(entry.file_name()), inside, left);
        }
        inside.pop();
    }

    fn look_at(
        &mut self,
        root: &Path,
        path: &Path,
        inside: &mut Vec<(u64, u64)>,
        left: &mut usize,
    ) {
        match fs::metadata(root.join(path)) {
            Ok(metadata) if metadata.is_dir() && inside.len() >= MAX_DEPTH => {
                self.unknown(path, "the directories are nested too deeply".to_owned());
            }
            Ok(metadata) if metadata.is_dir() => self.enter(root, path, inside, left),
            Ok(metadata) if metadata.is_file() && is_manifest(path) => {
                self.files.insert(path.to_owned(), Print::of(&metadata));
            }
            Ok(_) => {}
            Err(error) if is_gone(&error) => {}
            Err(error) => self.unknown(path, words(&error)),
        }
    }

    fn unknown(&mut self, path: &Path, why: String) {
        self.unknown.insert(path.to_owned(), why);
    }
}

struct Entries {
    entries: Vec<DirEntry>,
    complete: bool,
}

/// The entries of a directory that are not hidden, by name, `at_most` so many.
fn read(directory: &Path, at_most: usize) -> io::Result<Entries> {
    let (mut entries, mut complete) = (Vec::new(), true);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if entries.len() == at_most {
            complete = false;
            break;
        }
        entries.push(entry);
    }
    entries.sort_by_key(DirEntry::file_name);
    Ok(Entries { entries, complete })
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn found(root: &Path, max: usize) -> (Vec<String>, Vec<String>) {
        let walk = Walk::take(root, max);
        let text = |path: &PathBuf| path.display().to_string();
        (
            walk.files.keys().map(text).collect(),
            walk.unknown.keys().map(text).collect(),
        )
    }

    #[test]
    fn endings_subfolders_and_hidden_files() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "b.yaml",
            "a.yml",
            "sub/deep/c.json",
            "d.txt",
            "e.yaml.bak",
            "README.md",
            ".hidden.yaml",
            ".git/f.yaml",
            "yaml",
            "G.YAML",
            "odd.yaml/inside.yaml",
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let expected = ["a.yml", "b.yaml", "odd.yaml/inside.yaml", "sub/deep/c.json"];
        let (files, unknown) = found(dir.path(), MAX_ENTRIES);
        assert_eq!(files, expected);
        assert!(unknown.is_empty());
    }

    #[test]
    fn links_are_followed_but_not_in_circles() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("..v1")).unwrap();
        fs::write(at("..v1/f.yaml"), "x").unwrap();
        symlink("..v1", at("..data")).unwrap();
        symlink("..data/f.yaml", at("f.yaml")).unwrap();
        symlink(".", at("again")).unwrap();
        symlink("nowhere", at("broken.yaml")).unwrap();
        let (files, unknown) = found(dir.path(), MAX_ENTRIES);
        assert_eq!(files, ["f.yaml"]);
        assert!(unknown.is_empty());
    }

    #[test]
    fn too_many_files_are_told() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..5 {
            fs::write(dir.path().join(format!("{n}.yaml")), "x").unwrap();
        }
        let (files, unknown) = found(dir.path(), 3);
        assert_eq!(files.len(), 3);
        assert_eq!(unknown, [""]);
        assert!(Walk::take(dir.path(), 3).may_have(Path::new("4.yaml")));
        assert!(found(dir.path(), 5).1.is_empty());
    }

    #[test]
    fn a_directory_that_is_gone_is_told_apart_from_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Walk::take(dir.path(), 9).unknown.is_empty());
        let (files, unknown) = found(&dir.path().join("gone"), 9);
        assert!(files.is_empty());
        assert_eq!(unknown, [""]);
    }
}
