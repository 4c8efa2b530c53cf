//! The guide of the graph shows what the commands print, and says something of every flag.

use std::process::Command;

use crate::eval::documentation::{check_flags, check_guide};
use crate::harness::{Folder, repository};

/// A copy of the example, to run in.
fn example() -> Folder {
    let folder = Folder::new();
    let copy = Command::new("cp")
        .arg("-r")
        .arg(repository().join("examples/graph/."))
        .arg(folder.root())
        .status();
    assert!(copy.unwrap().success());
    folder
}

#[test]
fn commands_print_what_is_shown() {
    check_guide("docs/graph.md", &example(), 6);
}

#[test]
fn every_flag_is_described() {
    for command in [
        "graph path",
        "graph neighbors",
        "graph export",
        "graph check",
    ] {
        check_flags("docs/graph.md", command);
    }
}
