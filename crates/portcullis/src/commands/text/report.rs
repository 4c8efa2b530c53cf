//! Reports that are written beside the output.

use std::path::Path;

use super::{error, file};
use crate::output;

/// Writes a report whole, or tells why it can't be; false then.
pub(in crate::commands) fn write(path: &Path, text: &str) -> bool {
    match file::write(path, text) {
        Ok(()) => true,
        Err(wrong) => {
            let (path, why) = (path.display(), output::reason(&wrong));
            error::tell(&format!("cannot write the report {path}: {why}"));
            false
        }
    }
}
