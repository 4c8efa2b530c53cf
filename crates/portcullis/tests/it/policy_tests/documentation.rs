//! `docs/testing-policies.md` mentions every flag.

use crate::eval::documentation::check_flags;

#[test]
fn every_flag_is_described() {
    check_flags("docs/testing-policies.md", "test");
    check_flags("docs/testing-policies.md", "init");
}
