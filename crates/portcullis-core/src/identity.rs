//! Who calls the API: a caller whose token, session, certificate or socket was verified.

use serde_json::{Map, Value};

/// A verified caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// What is known of the caller; rules look at it.
    pub claims: Map<String, Value>,
    /// The stable name of the caller; rules know it as `zuul_uid`, whatever claim it came from.
    pub uid: String,
    /// Where the caller is admin without any rule.
    pub admin: AdminOf,
}

/// Where a caller is admin without any rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AdminOf {
    /// Nowhere.
    #[default]
    Nothing,
    /// In these tenants.
    Tenants(Vec<String>),
    /// Everywhere.
    Everything,
}
