//! Tests of subjects and rules, against an invented graph.

pub(crate) mod cases;
mod decisions;
mod faults;
mod identities;
mod scope;
pub(crate) mod shipped;
pub(crate) mod support;
