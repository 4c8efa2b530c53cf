//! Whether others can write what the server trusts.

use portcullis_config::Loaded;
use portcullis_files::{Use, check_named};

use super::finding::{Finding, Findings};

const CHECK: &str = "files";

/// Checks every file of the configuration.
pub(super) fn check(loaded: &Loaded, findings: &mut Findings) {
    let mut all = loaded.files.clone();
    all.sort();
    all.dedup();
    let mut is_fine = true;
    for file in &all {
        if let Err(reason) = check_named(file, Use::Data) {
            is_fine = false;
            let fix = format!("take the permission away: chmod go-w {}", file.display());
            findings.add(Finding::problem(CHECK, file.display(), reason, fix));
        }
    }
    if is_fine {
        let message = format!("{} files, which others can't write", all.len());
        findings.add(Finding::ok(CHECK, "", message));
    }
}
