//! What the service does, with a real store, real webhooks on this machine, and policies that a test makes up.
//!
//! The numbers of cases are those of the design.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that can't go on has failed"
)]

mod bench;
mod callbacks;
mod chains;
mod claims;
mod controllers;
mod deliveries;
mod gates;
mod holds;
mod judge;
mod overload;
mod pipelines;
mod policies;
mod runner_output;
mod runners;
mod running;
mod servers;
mod standstill;
mod verdicts;
