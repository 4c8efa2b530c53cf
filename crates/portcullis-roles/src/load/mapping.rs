//! Mappings of rules to roles, as they are written.

/// The roles of one rule.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) rule: String,
    pub(super) at: String,
    pub(super) roles: Vec<(String, String)>,
}

/// Something that has mappings.
#[derive(Debug)]
pub(super) struct Place {
    /// In words, like "tenant `t1`".
    pub(super) whose: String,
    /// Whether it is the root of the API.
    pub(super) is_root: bool,
    pub(super) at: String,
}
