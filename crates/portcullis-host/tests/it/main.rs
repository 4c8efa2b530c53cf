//! The host as its callers see it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that can't go on has failed"
)]

mod built_in;
mod cosign;
mod forward;
mod forward_faults;
mod origin;
mod origin_world;
mod processes;
mod real;
mod registry;
mod runtime;
mod script;
mod signing;
mod slsa;
mod support;
