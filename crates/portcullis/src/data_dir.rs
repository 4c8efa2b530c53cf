//! Where things are kept that outlive the program.

use std::path::PathBuf;

/// Where people's programs keep their data.
pub(crate) fn standard() -> PathBuf {
    let var = |name| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let home = || var("HOME").map(|home| home.join(".local/share"));
    var("XDG_DATA_HOME")
        .or_else(home)
        .unwrap_or_else(std::env::temp_dir)
        .join("portcullis")
}
