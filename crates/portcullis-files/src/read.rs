//! Reading regular files, and nothing else.

use std::fs::{File, Metadata, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::fcntl::OFlag;
use portcullis_core::system_error::reason;

/// Opens a regular file for reading, at once: a named pipe, device, socket or directory is an
/// error. The error is the reason in plain words.
///
/// # Errors
///
/// When it can't be opened, or is not a regular file.
pub fn open(path: &Path) -> Result<File, String> {
    // Opening a device can do something, so it is looked at first; it may be another one by the time
    // it is opened, so that must not wait, and what was opened is looked at again.
    let metadata = std::fs::metadata(path).map_err(|error| reason(&error))?;
    regular(&metadata)?;
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path);
    let file = opened.map_err(|error| reason(&error))?;
    let metadata = file.metadata().map_err(|error| reason(&error))?;
    regular(&metadata)?;
    Ok(file)
}

/// Reads a regular file of at most `most` bytes. The error is the reason in plain words.
///
/// # Errors
///
/// When it can't be read, is not a regular file, or is larger.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    open(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| reason(&error))?;
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {}", size(most)));
    }
    Ok(bytes)
}

/// The same for a file of text in UTF-8.
///
/// # Errors
///
/// When it can't be read, is not a regular file, is larger, or is not text.
pub fn read_text(path: &Path, most: u64) -> Result<String, String> {
    String::from_utf8(read(path, most)?).map_err(|error| {
        let valid = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to());
        let line = 1 + valid.filter(|byte| **byte == b'\n').count();
        format!("line {line} is not UTF-8 text")
    })
}

fn regular(metadata: &Metadata) -> Result<(), String> {
    let kind = metadata.file_type();
    let found = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => return Err("it is a directory".to_owned()),
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(format!("it is {found}, not a regular file"))
}

fn size(bytes: u64) -> String {
    match (bytes >> 20, bytes >> 10) {
        (0, 0) => format!("{bytes} bytes"),
        (0, kibibytes) => format!("{kibibytes} KiB"),
        (mebibytes, _) => format!("{mebibytes} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        std::os::unix::fs::symlink("pipe", at("link")).unwrap();
        for (name, why) in [
            ("pipe", "it is a named pipe, not a regular file"),
            ("link", "it is a named pipe, not a regular file"),
            ("socket", "it is a socket, not a regular file"),
            ("endless", "it is a device, not a regular file"),
            ("folder", "it is a directory"),
            ("missing", "no such file or directory"),
        ] {
            assert_eq!(read(&at(name), 10), Err(why.to_owned()), "{name}");
        }
    }

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read(&file, 5), Ok(b"12345".to_vec()));
        assert_eq!(read(&file, 4), Err("it is larger than 4 bytes".to_owned()));
        // A file of any length that takes no space.
        let sparse = File::create(&file).unwrap();
        sparse.set_len(1 << 40).unwrap();
        let wrong = read(&file, 1 << 20);
        assert_eq!(wrong, Err("it is larger than 1 MiB".to_owned()));
    }
}
