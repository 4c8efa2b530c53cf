//! The guide mentions every flag.

use crate::eval::documentation::check_flags;

#[test]
fn every_flag_is_described() {
    for command in [
        "graph path",
        "graph neighbors",
        "graph export",
        "graph check",
        "graph list",
        "can-i",
    ] {
        check_flags("docs/graph-commands.md", command);
    }
}
