//! Roles, from the document to the answers.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::needless_pass_by_value,
    reason = "tests"
)]

mod answers;
mod cases;
mod defects;
mod example;
mod faults;
mod naive;
mod properties;
mod support;
mod tenants;
mod warnings;
