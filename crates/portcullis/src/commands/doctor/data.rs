//! The data directory: who can write it, and how much space is left.

use std::path::{Path, PathBuf};

use portcullis_config::Loaded;
use portcullis_document::Size;

use super::finding::{Finding, Findings};

const CHECK: &str = "data directory";
/// With less a database soon can't write any more.
const LEAST: u64 = 64 << 20;

/// Checks the data directory, whether it is there yet or not.
pub(super) fn check(directory: &Result<PathBuf, String>, loaded: &Loaded, findings: &mut Findings) {
    let directory = match directory {
        Ok(directory) => directory,
        Err(why) => {
            let fix = "give --data-dir DIR, as to `portcullis serve`";
            findings.add(Finding::warning(CHECK, "", why, fix));
            return;
        }
    };
    findings.extend(permissions(directory));
    // Decisions are stored elsewhere if the configuration says so.
    let is_here = loaded.decisions.is_stored && loaded.decisions.location.is_none();
    let needed = loaded.decisions.retention.size.filter(|_| is_here);
    findings.add(space(CHECK, directory, needed));
}

fn permissions(directory: &Path) -> Vec<Finding> {
    let place = directory.display();
    if !directory.exists() {
        let message = "not there yet: the server creates it for its user alone";
        return vec![Finding::ok(CHECK, place, message)];
    }
    // It only looks at a directory that is there.
    match portcullis_files::prepare_directory(directory) {
        Err(why) => {
            let fix = "give it to the user of the server, and to no other: chown, chmod go-w";
            vec![Finding::problem(CHECK, "", why, fix)]
        }
        Ok(odd) if odd.is_empty() => vec![Finding::ok(CHECK, place, "others can't write to it")],
        Ok(odd) => {
            let fix = "let only the user of the server write there: chmod go-w";
            let each = odd.into_iter();
            each.map(|odd| Finding::warning(CHECK, "", odd, fix))
                .collect()
        }
    }
}

/// Whether there is space; for what may become so large, if anything.
pub(super) fn space(check: &'static str, path: &Path, needed: Option<u64>) -> Finding {
    let place = path.display();
    match portcullis_files::free_space(path) {
        Err(why) => Finding::skipped(check, place, format!("its free space is unknown: {why}")),
        Ok(free) => judged(check, &place.to_string(), free, needed),
    }
}

fn judged(check: &'static str, place: &str, free: u64, needed: Option<u64>) -> Finding {
    let words = |bytes: u64| Size::from_bytes(bytes >> 20 << 20).to_string();
    let message = format!("{} are free", words(free));
    if free < LEAST {
        let fix = "make space: the store can't be written when the disk is full";
        return Finding::problem(check, place, message, fix);
    }
    match needed {
        Some(needed) if free < needed => {
            let message = format!("{message}, and `decisions.maxSize` is {}", words(needed));
            let fix = "make space, or lower `decisions.maxSize`";
            Finding::warning(check, place, message, fix)
        }
        _ => Finding::ok(check, place, message),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::finding::State;
    use super::*;

    #[test]
    fn directories_that_others_can_write_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("data");
        assert_eq!(permissions(&own)[0].state, State::Ok);
        assert!(!own.exists(), "it was created");
        std::fs::create_dir(&own).unwrap();
        let mode = |mode| {
            std::fs::set_permissions(&own, std::fs::Permissions::from_mode(mode)).unwrap();
            permissions(&own)[0].state
        };
        assert_eq!(mode(0o700), State::Ok);
        assert_eq!(mode(0o777), State::Problem);
        std::fs::remove_dir(&own).unwrap();
        std::fs::write(&own, "").unwrap();
        assert_eq!(permissions(&own)[0].state, State::Problem);
    }

    #[test]
    fn space_is_compared_with_what_may_be_stored() {
        let gib = 1 << 30;
        for (free, needed, expected) in [
            (1 << 20, None, State::Problem),
            (gib, None, State::Ok),
            (gib, Some(2 * gib), State::Warning),
            (3 * gib, Some(2 * gib), State::Ok),
        ] {
            let found = judged(CHECK, "/data", free, needed);
            assert_eq!(found.state, expected, "{found:?}");
        }
    }
}
