//! Decisions as lines of JSON, to standard output or to the end of a file.
//!
//! A file that was renamed away is created again, so that the tools that rotate logs work.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use portcullis_config::JsonLines;

/// Where lines go.
#[derive(Debug)]
pub(super) enum LineSink {
    /// Standard output.
    StandardOutput,
    /// The end of a file, opened when first needed.
    File(PathBuf, Option<File>),
}

impl LineSink {
    pub(super) fn new(place: JsonLines) -> Self {
        match place {
            JsonLines::StandardOutput => Self::StandardOutput,
            JsonLines::File(path) => Self::File(path, None),
        }
    }

    /// Writes lines, each whole, or says why not.
    pub(super) fn write<'a>(&mut self, lines: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let mut text = Vec::new();
        for line in lines {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        match self {
            Self::StandardOutput => {
                let mut out = io::stdout().lock();
                out.write_all(&text)?;
                out.flush()
            }
            Self::File(path, open) => {
                if open.as_ref().is_none_or(|file| !is_at(file, path)) {
                    *open = Some(append_to(path)?);
                }
                match open {
                    Some(file) => file.write_all(&text),
                    None => Ok(()),
                }
            }
        }
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

/// Whether the file is the one of this name still.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_renamed_away_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let (path, old) = (dir.path().join("d.jsonl"), dir.path().join("d.jsonl.1"));
        let mut sink = LineSink::new(JsonLines::File(path.clone()));
        sink.write(["a", "b"].into_iter()).unwrap();
        std::fs::rename(&path, &old).unwrap();
        sink.write(["c"].into_iter()).unwrap();
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "a\nb\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "c\n");
        let mode = std::fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let mut sink = LineSink::new(JsonLines::File("/nowhere/at/all/d.jsonl".into()));
        assert!(sink.write(["a"].into_iter()).is_err());
    }
}
