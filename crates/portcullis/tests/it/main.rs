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
mod coming_from;
mod contexts;
mod ctrdac;
mod decision_log;
mod decisions;
mod demo;
mod docs_typed;
mod doctor;
mod eval;
mod examples;
mod flood;
mod gate;
mod generate;
mod graph;
mod graph_guide;
mod harness;
mod health;
mod init;
mod layering;
mod lifecycle;
mod lint;
mod listeners;
mod modules;
mod observability;
mod orphans;
mod picture;
mod pipeline;
mod playground;
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
