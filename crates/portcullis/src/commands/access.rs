//! What `can-i ACTION`, `who-can` and `access-matrix` share: what people may do by a configuration, without a
//! server.
//!
//! ```text
//! configuration -> scope (a tenant or the root) -> the engine's answer -> phrases | value
//! claims, parameters ----------------------------/
//! ```

pub(super) mod caller;
pub(super) mod explained;
pub(super) mod phrases;
pub(super) mod scope;
pub(super) mod value;

#[cfg(test)]
pub(super) mod sample;
