//! What tests of several crates need: an HTTP server that answers as a test says ([`Server`]), an HTTP client
//! that can misbehave ([`Connection`]), certificates ([`Pki`]), folders, ports, and waiting for a condition.
//!
//! For development only: no crate of the product depends on it but for its own tests. It knows none of them,
//! so that each can use it. What only one crate's tests need stays with them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what can't be set up fails the test that wants it"
)]

mod answer;
mod certificates;
mod connection;
mod folder;
mod ports;
mod reply;
mod request;
mod server;
pub mod tls;
mod wait;

pub use answer::Answer;
pub use certificates::{Authority, Identity, Pki};
pub use connection::{Connection, post, post_bytes, raw, raw_then_close, request};
pub use folder::{Folder, replace_file};
pub use ports::{free_port, free_ports};
pub use reply::{Reply, Streaming};
pub use request::Request;
pub use server::Server;
pub use wait::{PATIENCE, eventually, eventually_within, until, until_within};
