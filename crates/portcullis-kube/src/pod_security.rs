//! The Pod Security Standards: levels, versions, checks, namespace policies.
//!
//! Pure functions over pod views, in the words and the order that Kubernetes'
//! own admission plug-in uses, since users search for those messages. Nothing
//! here looks up a namespace, lists pods or reads a clock.

mod checks;
pub(crate) mod config;
mod evaluate;
pub(crate) mod existing;
mod field_error;
mod level;
pub(crate) mod namespace;
pub(crate) mod review;
mod text;
pub(crate) mod update;
mod violation;

#[cfg(test)]
mod tests;

pub(crate) use field_error::FieldError;
pub(crate) use level::{Level, LevelVersion, Policy};
