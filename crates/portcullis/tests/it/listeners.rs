//! Sockets of every kind: what they accept, what they reject, and how long they wait.

mod binding;
mod browsers;
mod http2;
mod limits;
mod memory;
mod shares;
mod tls;
mod unix;

use serde_json::{Value, json};

use crate::harness::free_port;

/// A plain listener on a port of its own.
fn plain(name: &str, serves: &[&str]) -> (u16, Value) {
    let port = free_port();
    (
        port,
        json!({"name": name, "tcp": format!("127.0.0.1:{port}"), "serves": serves}),
    )
}

/// A listener with TLS on a port of its own.
fn encrypted(name: &str, tls: &Value) -> (u16, Value) {
    let (port, mut listener) = plain(name, &["kubernetes"]);
    listener["tls"] = tls.clone();
    (port, listener)
}

/// A unix socket beside the configuration.
fn socket(name: &str, mode: &str) -> Value {
    json!({"name": name, "unix": {"path": format!("{name}.sock"), "mode": mode}, "serves": ["kubernetes", "health"]})
}
