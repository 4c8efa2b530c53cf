//! Requests to the doors, without a process and without a socket: what they answer depends on neither.
//!
//! The program from outside, with its sockets, signals, exit codes and log, is in `crates/portcullis/tests/it`.

mod agents;
mod api;
mod chain;
mod decisions;
mod harness;
mod malformed;
mod policies;
mod refusals;
mod wire;
