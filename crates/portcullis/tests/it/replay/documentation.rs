//! Every command that `docs/replay.md` shows prints what is shown there.

use std::process::Command;

use crate::eval::documentation::{check_flags, check_guide};
use crate::harness::{Folder, repository};

#[test]
fn every_command_prints_what_is_shown() {
    let folder = Folder::new();
    let copy = Command::new("cp")
        .arg("-r")
        .arg(repository().join("examples/policies/."))
        .arg(folder.root())
        .status();
    assert!(copy.unwrap().success());
    check_guide("docs/replay.md", &folder, 3);
}

#[test]
fn every_flag_is_described() {
    check_flags("docs/replay.md", "replay");
}
