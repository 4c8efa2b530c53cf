//! Reading the files of a configuration, within a size limit.

use std::{path::Path, sync::Arc};

use portcullis_document::Source;

/// Larger files are rejected.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Reads a file of text; the error is the reason in plain words.
///
/// # Errors
///
/// When it can't be read, is too large, or is not text.
pub fn read_source(path: &Path) -> Result<Arc<Source>, String> {
    let text = portcullis_files::read_text(path, MAX_BYTES)?;
    Ok(Source::file(path, text))
}
