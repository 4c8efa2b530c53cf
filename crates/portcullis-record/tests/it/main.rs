//! What is recorded of decisions, and what is not.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod access;
mod action;
mod elsewhere;
mod fixtures;
mod job;
mod line;
mod masking;
mod property;
mod reading;
mod scrubbing;
mod truncation;
