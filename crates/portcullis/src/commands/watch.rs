//! Running a command again whenever its files change, as `--watch` asks.
//!
//! Files are looked at twice a second, as the server looks at those of its configuration (decision 2), so that every way
//! to change a file is seen on every file system. What is in a folder is listed anew each time, so that files may come
//! and go.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_document::Faults;
use portcullis_files::Fingerprint;
use portcullis_gate::offline::{self, Blueprint};

use super::text::plain::{counted, printable};
use crate::exit::Exit;
use crate::output;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Looking takes at most this part of the time, however many files there are.
const SHARE: u32 = 10;
/// A file that is still being written changes again soon.
const SETTLE: Duration = Duration::from_millis(150);
const SETTLE_AT_MOST: u32 = 10;
/// So many changes are named.
const NAMED: usize = 3;

/// Runs a command, and again whenever one of its files has changed since it began, until there is nothing to print to.
///
/// `files` says before each run which files and folders it reads; `own` are files it writes.
pub(super) fn repeat(
    mut files: impl FnMut() -> Vec<PathBuf>,
    own: &[PathBuf],
    mut run: impl FnMut() -> Exit,
) -> Exit {
    let own: Vec<PathBuf> = own.iter().map(|path| absolute(path)).collect();
    // A configuration that has become faulty does not say which files it has.
    let mut known = BTreeSet::new();
    loop {
        known.extend(files());
        let files: Vec<PathBuf> = known.iter().cloned().collect();
        let seen = Snapshot::take(&files, &own);
        let exit = run();
        if output::is_closed() {
            return exit;
        }
        let count = counted(seen.0.len(), "file", "files");
        output::tell(&format!("watching {count} for changes"));
        let now = seen.changed(&files, &own);
        output::clear();
        output::tell(&format!("--- {}", seen.difference(&now)));
    }
}

/// The files that a configuration is read from; if it is faulty, those that the faults are in.
pub(super) fn files_of(loaded: Result<&Blueprint, &Faults>) -> Vec<PathBuf> {
    match loaded {
        Ok(blueprint) => blueprint.files().to_vec(),
        Err(faults) => {
            let named = faults.iter().map(|fault| PathBuf::from(&fault.file));
            named.filter(|file| file.is_file()).collect()
        }
    }
}

/// How files are at a moment, by their absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Snapshot(BTreeMap<PathBuf, Fingerprint>);

impl Snapshot {
    fn take(files: &[PathBuf], own: &[PathBuf]) -> Self {
        let mut all = BTreeMap::new();
        let output = std::fs::metadata("/dev/stdout").ok();
        let mut add = |path: &Path| {
            let path = absolute(path);
            let is_output = || {
                let (Some(output), Ok(found)) = (&output, std::fs::metadata(&path)) else {
                    return false;
                };
                (output.dev(), output.ino()) == (found.dev(), found.ino())
            };
            if !own.contains(&path) && !is_output() {
                let one = [path];
                let print = Fingerprint::take(&one);
                let [path] = one;
                all.insert(path, print);
            }
        };
        for path in files {
            match path.is_dir() {
                // A folder that can't be listed is said by the run.
                true => offline::find_sources(path)
                    .unwrap_or_default()
                    .iter()
                    .for_each(|file| add(file)),
                false => add(path),
            }
        }
        Self(all)
    }

    /// Waits until it is no longer so, and nothing changes any more; how it is then.
    fn changed(&self, files: &[PathBuf], own: &[PathBuf]) -> Self {
        let mut pause = LOOK_EVERY;
        loop {
            thread::sleep(pause);
            let look = Stopwatch::start();
            let mut now = Self::take(files, own);
            pause = LOOK_EVERY.max(look.elapsed().saturating_mul(SHARE));
            if now == *self {
                continue;
            }
            for _ in 0..SETTLE_AT_MOST {
                thread::sleep(SETTLE);
                let later = Self::take(files, own);
                if later == std::mem::replace(&mut now, later.clone()) {
                    break;
                }
            }
            // What was only there for a moment is no change.
            if now != *self {
                return now;
            }
        }
    }

    /// `a.yaml changed, b.yaml was added`.
    fn difference(&self, now: &Self) -> String {
        let missing = Fingerprint::take(&[PathBuf::from("/dev/null/missing")]);
        let state = |all: &Self, path: &PathBuf| {
            let found = all.0.get(path);
            found.filter(|print| **print != missing).cloned()
        };
        let paths = self.0.keys().chain(now.0.keys());
        let mut paths: Vec<&PathBuf> = paths.collect();
        paths.sort();
        paths.dedup();
        let changes = paths.into_iter().filter_map(|path| {
            let what = match (state(self, path), state(now, path)) {
                (before, after) if before == after => return None,
                (None, _) => "was added",
                (_, None) => "was removed",
                _ => "changed",
            };
            Some(format!("{} {what}", printable(&shown(path))))
        });
        let mut changes: Vec<String> = changes.collect();
        let more = changes.len().saturating_sub(NAMED);
        changes.truncate(NAMED);
        if more > 0 {
            changes.push(format!("and {}", counted(more, "more file", "more files")));
        }
        changes.join(", ")
    }
}

fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // `./a` and `a` are the same.
    path.components().collect()
}

/// A file as it would be named here.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let inner = path.strip_prefix(&here).unwrap_or(path);
    inner.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
        for name in ["a.yaml", "b.js", "own.json", "notes.txt"] {
            write(name, "1");
        }
        let files = vec![folder.path().to_owned(), at("named.conf")];
        let own = vec![at("own.json")];
        let take = || Snapshot::take(&files, &own);
        let before = take();
        assert_eq!(before.0.len(), 3);
        for name in ["own.json", "notes.txt", ".hidden.yaml"] {
            write(name, "22");
        }
        assert_eq!(take(), before);
        write("a.yaml", "22");
        write("named.conf", "1");
        std::fs::remove_file(at("b.js")).unwrap();
        let name = |name: &str| at(name).display().to_string();
        let [a, b, named] = ["a.yaml", "b.js", "named.conf"].map(name);
        assert_eq!(
            before.difference(&take()),
            format!("{a} changed, {b} was removed, {named} was added")
        );
        for number in 0..3 {
            write(&format!("new-{number}.yaml"), "1");
        }
        let said = before.difference(&take());
        assert!(said.ends_with(" was added, and 3 more files"), "{said}");
    }

    #[test]
    fn a_change_that_is_undone_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        std::fs::write(&file, "1").unwrap();
        let files = vec![folder.path().to_owned()];
        let before = Snapshot::take(&files, &[]);
        let extra = folder.path().join("b.yaml");
        std::fs::write(&extra, "1").unwrap();
        std::fs::remove_file(&extra).unwrap();
        std::fs::write(folder.path().join("c.yaml"), "1").unwrap();
        let now = before.changed(&files, &[]);
        assert!(before.difference(&now).ends_with("c.yaml was added"));
    }
}
