//! Sockets, connections and the limits on both; knows nothing of what is served.
//!
//! ```text
//! listener ──accept──> handshake (TLS) ──> connection (HTTP/1.1 or 2) ──request──> handler
//! ```
//!
//! What requests hold in memory counts against one [`budget`], until the client has taken the answer.
//! Every client that exceeds a limit gets an answer that says so: connections end by [`linger`]ing,
//! so that the answer arrives even while the client is still sending.

pub(crate) mod activity;
pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod browser;
pub(crate) mod budget;
pub(crate) mod connection;
pub(crate) mod connections;
pub(crate) mod error;
pub(crate) mod handler;
pub(crate) mod linger;
pub(crate) mod listener;
pub(crate) mod media_type;
pub(crate) mod peer;
pub(crate) mod prelude;
pub(crate) mod setup;
pub(crate) mod tls;
pub(crate) mod trust;
pub(crate) mod unix;

/// What is sent back.
pub(crate) type Response = hyper::Response<answer::Answer>;
