//! Reports that are written to files, beside the output.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error;
use crate::output;

/// A report to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Report<Kind> {
    pub(in crate::commands) kind: Kind,
    pub(in crate::commands) file: PathBuf,
}

/// The kind and the file of a report.
pub(in crate::commands) fn file<'a>(
    text: &'a str,
    known: &str,
) -> Result<(&'a str, PathBuf), String> {
    let (kind, file) = text.split_once('=').unwrap_or((text, ""));
    match file {
        "" => Err(format!("expected {known}")),
        "-" => Err(format!(
            "a report is written to a file; `-o {kind}` prints to standard output"
        )),
        file => Ok((kind, file.into())),
    }
}

/// Writes a complete report, or prints why it can't be written; false then.
pub(in crate::commands) fn write(path: &Path, text: &str) -> bool {
    write_by(path, &mut |out| out.write_all(text.as_bytes()))
}

/// The same for a report that is written piece by piece.
pub(in crate::commands) fn write_by(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> bool {
    is_replaced(path, "the report ", write)
}

/// The same of another file.
pub(in crate::commands) fn write_file(path: &Path, text: &str) -> bool {
    is_replaced(path, "", &mut |out| out.write_all(text.as_bytes()))
}

fn is_replaced(
    path: &Path,
    what: &str,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> bool {
    match replace(path, write) {
        Ok(()) => true,
        Err(wrong) => {
            let (path, why) = (path.display(), output::reason(&wrong));
            error::tell(&format!("cannot write {what}{path}: {why}"));
            false
        }
    }
}

/// Writes a temporary file and renames it into place, so that no reader sees half of it.
///
/// Anything but a regular file, like a pipe or a device, is written to instead of being replaced.
///
/// # Errors
///
/// The error of the system, about the file itself.
fn replace(file: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // The file that is meant, not the link that leads to it.
    let file: PathBuf = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    if file.metadata().is_ok_and(|there| !there.is_file()) {
        return written(OpenOptions::new().write(true).open(&file)?, write).map(drop);
    }
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // The library would name the temporary file, which means nothing to the user.
    let mut refused = None;
    let aside = tempfile::Builder::new()
        .prefix(".portcullis-")
        .make_in(folder, |path| {
            create(path).inspect_err(|error| refused = error.raw_os_error())
        });
    let mut aside = aside.map_err(|error| match refused {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    })?;
    written(aside.as_file_mut(), write)?.sync_all()?;
    aside.persist(&file).map_err(|error| error.error)?;
    Ok(())
}

/// Writes by few calls of the system.
fn written<W: Write>(
    to: W,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut out = BufWriter::new(to);
    write(&mut out)?;
    out.into_inner().map_err(IntoInnerError::into_error)
}

/// As any other new file: readable as the person's umask says.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o666)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(file: &Path, text: &str) -> io::Result<()> {
        super::replace(file, &mut |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn files_are_replaced_whole_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn devices_are_written_to() {
        replace(Path::new("/dev/null"), "text").unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
        let full = replace(Path::new("/dev/full"), "text").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn the_reason_is_about_the_file_itself() {
        let missing = replace(Path::new("/nonexistent/x.xml"), "").unwrap_err();
        assert_eq!(crate::output::reason(&missing), "no such file or directory");
        let folder = tempfile::tempdir().unwrap();
        let error = replace(folder.path(), "text").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }
}
