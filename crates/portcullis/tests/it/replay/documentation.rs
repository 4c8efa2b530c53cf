//! `docs/replay.md` mentions every flag.

use crate::eval::documentation::check_flags;

#[test]
fn every_flag_is_described() {
    check_flags("docs/replay.md", "replay");
}
