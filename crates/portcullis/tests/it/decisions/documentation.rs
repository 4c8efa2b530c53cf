//! The guide shows what the commands print, and says something of every flag.

use super::{fill, filled, sample};
use crate::eval::documentation::{check_flags, check_guide};

#[test]
fn every_command_prints_what_is_shown() {
    let folder = filled();
    fill(&folder, "data", &["action", "granted"].map(sample));
    check_guide("docs/decision-log.md", &folder, 7);
}

#[test]
fn every_flag_is_described() {
    for command in ["decisions list", "decisions export", "explain"] {
        check_flags("docs/decision-log.md", command);
    }
}
