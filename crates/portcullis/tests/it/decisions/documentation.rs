//! The guide mentions every flag.

use crate::eval::documentation::check_flags;

#[test]
fn every_flag_is_described() {
    for command in ["decisions list", "decisions export", "explain"] {
        check_flags("docs/decision-log.md", command);
    }
}
