//! A fresh copy of what ships.

use std::fs::File;
use std::process::Command;

use crate::harness::{Folder, repository};

/// What git knows of, as it is now: nothing that was built or left behind by trying things.
pub(super) fn fresh() -> Folder {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached"])
        .current_dir(repository())
        .output()
        .expect("git lists what ships");
    let told = String::from_utf8_lossy(&listed.stderr);
    assert!(listed.status.success(), "git lists what ships: {told}");
    let folder = Folder::new();
    let names = String::from_utf8(listed.stdout).unwrap();
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let from = repository().join(name);
        // One that was deleted and is still listed is gone for the next reader too.
        if from.is_file() {
            let to = folder.path(name);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(from, to).unwrap();
        }
    }
    folder
}

/// Keeps other runs of these tests waiting until it is dropped.
pub(super) fn lock() -> File {
    let file = File::create(concat!(env!("CARGO_TARGET_TMPDIR"), "/docs_typed.lock")).unwrap();
    file.lock().unwrap();
    file
}
