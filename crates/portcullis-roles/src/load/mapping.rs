//! Roles of rules, as they are written.

use super::findings::At;

/// The roles of one rule.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) rule: String,
    pub(super) at: At,
    pub(super) roles: Vec<(At, String)>,
}

/// Something that has mappings.
#[derive(Debug)]
pub(super) struct Place {
    /// In words, like "tenant `t1`".
    pub(super) whose: String,
    /// Whether it is the root of the API.
    pub(super) is_root: bool,
    pub(super) at: At,
}
