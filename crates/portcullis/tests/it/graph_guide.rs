//! The guide of the graph mentions every flag; its commands are run by `docs_typed`.

use crate::eval::documentation::check_flags;

#[test]
fn every_flag_is_described() {
    for command in [
        "graph path",
        "graph neighbors",
        "graph export",
        "graph check",
        "graph list",
    ] {
        check_flags("docs/graph.md", command);
    }
}
