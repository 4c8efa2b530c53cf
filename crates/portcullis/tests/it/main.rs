//! The program from outside: started as users start it, over real sockets, ended by signals.
//!
//! Every test starts the servers it needs in a folder of its own, so that all can run at once.
//! Nothing here uses the code of the program; [`harness`] has a client, certificates and a
//! patch of its own.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a helper of a test fails by panicking, and says why it skips something"
)]

mod access;
mod additions;
mod agents;
mod api;
mod autohold;
mod cli;
mod decision_log;
mod decisions;
mod docs_typed;
mod eval;
mod examples;
mod flood;
mod gate;
mod graph;
mod graph_guide;
mod harness;
mod init;
mod layering;
mod lifecycle;
mod listeners;
mod modules;
mod orphans;
mod picture;
mod pipeline;
mod policies;
mod policy_tests;
mod readme;
mod refusals;
mod reload;
mod replay;
mod setup;
mod telemetry;
mod tenant;
mod token;
mod versions;
