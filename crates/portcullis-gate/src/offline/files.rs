//! Finding and reading manifests: files, folders, standard input.

use std::ffi::OsStr;
use std::fs::File;
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
/// Endings of the files that are taken from a folder.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];
/// Files that `portcullis init` writes beside policies.
const OWN_FILES: [&str; 3] = ["portcullis.yaml", "portcullis.yml", "tsconfig.json"];
/// The folder of JSON Schemas that it writes.
const SCHEMAS: &str = "schemas";
/// Endings of policies, of the modules they import, and of tests.
const SCRIPT_ENDINGS: [&str; 6] = ["cjs", "cts", "js", "mjs", "mts", "ts"];

/// The manifests at a path.
#[derive(Debug, Default)]
pub struct Manifests {
    /// The files, sorted.
    pub files: Vec<PathBuf>,
    /// How many files of the folder were passed over because they are Portcullis' own.
    pub passed_over: usize,
}

/// The manifests at a path: the file itself, or those of a folder and its subfolders.
/// Hidden files and folders, links to folders, and files that are Portcullis' own are passed over.
///
/// # Errors
///
/// When a folder can't be read.
pub fn find(path: &Path) -> Result<Manifests, Box<Fault>> {
    let mut found = Manifests::default();
    if !path.is_dir() {
        found.files.push(path.to_owned());
        return Ok(found);
    }
    let mut files = Vec::new();
    walk(path, &is_manifest, &mut files)?;
    for file in files {
        match is_own(path, &file) {
            true => found.passed_over += 1,
            false => found.files.push(file),
        }
    }
    Ok(found)
}

/// Whether a file of a folder belongs to Portcullis or to an editor: a configuration, tests, schemas.
fn is_own(folder: &Path, file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let below = file.strip_prefix(folder).unwrap_or(file);
    let is_schema = below
        .parent()
        .is_some_and(|parent| parent.file_name() == Some(OsStr::new(SCHEMAS)));
    OWN_FILES.contains(&name) || is_test(file) || is_schema
}

/// Everything in a folder and its subfolders that could be a manifest, a policy, a module or a test, sorted. Hidden files
/// and folders, `node_modules`, and links to folders are passed over.
///
/// # Errors
///
/// When a folder can't be read.
pub fn find_sources(folder: &Path) -> Result<Vec<PathBuf>, Box<Fault>> {
    let mut found = Vec::new();
    walk(folder, &is_source, &mut found)?;
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
        let message = format!(
            "cannot read the folder: {}",
            portcullis_core::system_error::reason(&error)
        );
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
    ends_in(path, &ENDINGS)
}

fn is_source(path: &Path) -> bool {
    ends_in(path, &ENDINGS) || ends_in(path, &SCRIPT_ENDINGS)
}

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|e| e.to_str());
    ending.is_some_and(|ending| endings.contains(&ending))
}

/// Opens a file of manifests.
///
/// # Errors
///
/// When it can't be opened.
pub fn open(path: &Path) -> Result<File, Box<Fault>> {
    // `-f <(command)` names a pipe that is being written to.
    let is_pipe = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let opened = match is_pipe {
        true => File::open(path).map_err(|error| portcullis_core::system_error::reason(&error)),
        false => portcullis_files::open(path),
    };
    opened.map_err(|reason| unreadable(path, &reason))
}

/// Reads a file.
///
/// # Errors
///
/// When it can't be read, is too large, or is not text.
pub fn read_file(path: &Path) -> Result<Arc<Source>, Box<Fault>> {
    portcullis_config::read_source(path).map_err(|reason| unreadable(path, &reason))
}

fn unreadable(path: &Path, reason: &str) -> Box<Fault> {
    let message = format!("cannot read the file: {reason}");
    Box::new(Source::named(path.display().to_string()).fault(None, "", message))
}
