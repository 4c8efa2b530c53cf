//! Finding and reading manifests: files, folders, standard input.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_document::{Fault, Source};

/// How the names of test files end.
const TEST_ENDINGS: [&str; 6] = [
    ".test.yaml",
    ".test.yml",
    ".test.ts",
    ".test.js",
    ".test.mts",
    ".test.mjs",
];
/// Larger inputs are rejected.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Endings of the files that are taken from a folder.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// The manifests at a path: the file itself, or those of a folder and its subfolders, sorted.
/// Hidden files and folders, and links to folders, are passed over.
///
/// # Errors
///
/// When a folder can't be read.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, Box<Fault>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    walk(path, &is_manifest, &mut found)?;
    Ok(found)
}

/// The test files of a folder and its subfolders, sorted. Hidden files and folders, `node_modules`,
/// and links to folders are passed over.
///
/// # Errors
///
/// When a folder can't be read.
pub fn find_tests(folder: &Path) -> Result<Vec<PathBuf>, Box<Fault>> {
    let mut found = Vec::new();
    walk(folder, &is_test, &mut found)?;
    Ok(found)
}

/// Whether this is the name of a test file.
pub fn is_test(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| TEST_ENDINGS.iter().any(|end| name.ends_with(end)))
}

fn walk(
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), Box<Fault>> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot read the folder: {error}");
        Box::new(Source::named(folder.display().to_string()).fault(None, "", message))
    };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden {
            entries.push((entry.path(), entry.file_type().map_err(failed)?));
        }
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (path, kind) in entries {
        if kind.is_dir() {
            if path.file_name() != Some(OsStr::new("node_modules")) {
                walk(&path, is_wanted, found)?;
            }
        } else if is_wanted(&path) && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Reads a file.
///
/// # Errors
///
/// When it can't be read, is too large, or is not text.
pub fn read_file(path: &Path) -> Result<Arc<Source>, Box<Fault>> {
    // `-f <(command)` names a pipe that is being written to.
    let is_pipe = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_pipe && let Ok(file) = std::fs::File::open(path) {
        return read_text(&path.display().to_string(), file);
    }
    portcullis_config::read_source(path).map_err(|reason| {
        let message = format!("cannot read the file: {reason}");
        Box::new(Source::named(path.display().to_string()).fault(None, "", message))
    })
}

/// Reads everything, under this name.
///
/// # Errors
///
/// When it can't be read, is too large, or is not text.
pub fn read_text(label: &str, from: impl Read) -> Result<Arc<Source>, Box<Fault>> {
    let mut bytes = Vec::new();
    let fault = |message: String| Box::new(Source::named(label).fault(None, "", message));
    from.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| fault(format!("cannot read it: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fault("cannot read it: it is larger than 16 MiB".to_owned()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::text_named(label, text)),
        Err(_) => Err(fault("cannot read it: it is not UTF-8 text".to_owned())),
    }
}
