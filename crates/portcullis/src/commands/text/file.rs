//! Files that commands write.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file aside and puts it in its place whole.
pub(in crate::commands) fn write(file: &Path, text: &str) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // As any other new file: readable as the person's umask says.
    let mut aside = tempfile::Builder::new()
        .prefix(".portcullis-")
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    io::Write::write_all(&mut aside, text.as_bytes())?;
    aside.persist(file).map_err(|error| error.error)?;
    Ok(())
}
