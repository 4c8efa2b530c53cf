//! Every command that `docs/testing-policies.md` shows prints what is shown there.

use crate::eval::documentation::{check_flags, check_guide};
use crate::harness::Folder;

#[test]
fn every_command_prints_what_is_shown() {
    check_guide("docs/testing-policies.md", &Folder::new(), 6);
}

#[test]
fn every_flag_is_described() {
    check_flags("docs/testing-policies.md", "test");
    check_flags("docs/testing-policies.md", "init");
}
