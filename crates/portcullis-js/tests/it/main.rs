//! The engine as its callers see it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that can't go on has failed"
)]

mod cases;
mod context;
mod conversion;
mod coverage;
mod failures;
mod host;
mod hostile;
mod isolation;
mod jspolicy;
mod modes;
mod modules;
mod natives;
mod patches;
mod pinning;
mod purity;
mod replay;
mod searches;
mod start;
mod support;
mod surrogates;
