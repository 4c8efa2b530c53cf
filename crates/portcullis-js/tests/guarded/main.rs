//! Evaluations in processes: what differs there, and that nothing else does. The tests of `it`
//! that are not about threads are run here too, with every evaluation in a process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that can't go on has failed"
)]

mod attack;
mod ending;
mod faults;
mod same;
mod start;
mod stuck;

#[path = "../it/cases.rs"]
mod cases;
#[path = "../it/context.rs"]
mod context;
#[path = "../it/conversion.rs"]
mod conversion;
#[path = "../it/coverage.rs"]
mod coverage;
#[path = "../it/host.rs"]
mod host;
#[path = "../it/modes.rs"]
mod modes;
#[path = "../it/modules.rs"]
mod modules;
#[path = "../it/patches.rs"]
mod patches;
#[path = "../it/support.rs"]
#[allow(dead_code, reason = "some is for tests that are only in `it`")]
mod support;

/// Not a test: what the other tests start as a process.
#[test]
#[ignore = "a process for other tests"]
fn evaluates_for_another_process() {
    drop(portcullis_js::serve_evaluations());
}
