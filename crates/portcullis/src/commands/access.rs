//! What `can-i ACTION`, `who-can` and `access-matrix` share: permissions in a configuration, without a
//! server.
//!
//! ```text
//! configuration -> place (a tenant or the root) -> the engine's answer -> words | value
//! claims, parameters ----------------------------/
//! ```

pub(super) mod caller;
pub(super) mod explained;
pub(super) mod phrases;
pub(super) mod scope;
pub(super) mod value;

#[cfg(test)]
pub(super) mod sample;
