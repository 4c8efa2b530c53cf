//! What tests of several crates need: an HTTP server that answers as a test says ([`Server`]), an HTTP client
//! that can misbehave ([`Connection`]), certificates ([`Pki`]), folders, ports, and waiting for a condition; and for the
//! tests of Portcullis' own doors reviews, what is answered to them, and a [`Client`] that asks.
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
mod api;
mod certificates;
mod client;
mod connection;
pub mod controller;
mod events;
mod folder;
pub mod garden;
mod metrics;
pub mod policies;
mod ports;
mod postgres;
mod reply;
mod request;
mod review;
mod server;
pub mod tls;
pub mod tokens;
mod verdict;
mod wait;

pub use answer::Answer;
pub use api::{ApiClient, api_files};
pub use certificates::{Authority, Identity, Pki};
pub use client::Client;
pub use connection::{Connection, request};
pub use events::Events;
pub use folder::{Folder, replace_file};
pub use metrics::Metrics;
pub use ports::{free_port, free_ports};
pub use postgres::Postgres;
pub use reply::{Reply, Streaming};
pub use request::Request;
pub use review::{
    Review, access, chain, container, path_access, pod, pod_security, pod_with, privileged,
    with_listener,
};
pub use server::Server;
pub use verdict::Verdict;
pub use wait::{PATIENCE, eventually, eventually_within, until, until_within};
