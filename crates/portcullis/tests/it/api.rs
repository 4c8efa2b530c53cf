//! The guarded REST API of a running server: persistence, reloads, sessions, streams, callers by certificate
//! and socket. Its answers are tested in portcullis-server.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are made where they are handed over"
)]

pub(crate) mod browser;
mod holds;
mod identities;
mod pages;
mod reloads;
mod sessions;
mod streams;

use std::ops::Deref;

pub(crate) use portcullis_testing::tokens::{admin, of};
use portcullis_testing::{ApiClient, api_files};
use serde_json::Value;

use crate::harness::{Client, Gate, Setup, free_port};

/// A server whose API is at `port`.
pub(crate) struct Api {
    pub(crate) gate: Gate,
    pub(crate) port: u16,
    client: ApiClient,
}

/// A configuration with issuers that the tests sign for, and its files.
pub(crate) fn setup(tenants: Option<&Value>) -> (Setup, u16) {
    let port = free_port();
    let (config, files) = api_files(&format!("127.0.0.1:{port}"), tenants);
    let setup = files
        .into_iter()
        .fold(Setup::new(config), |setup, (name, text)| {
            setup.file(&name, text)
        });
    (setup, port)
}

impl Api {
    #[track_caller]
    fn start(tenants: &Value) -> Self {
        let (setup, port) = setup(Some(tenants));
        Self::of(setup.start(), port)
    }

    /// A server that runs already, whose API is at this port.
    pub(crate) fn of(gate: Gate, port: u16) -> Self {
        let client = ApiClient::new(Client::tcp(port));
        Self { gate, port, client }
    }

    /// Changes the tenants file, and asks for a reload.
    fn change(&self, tenants: &str) {
        self.gate.folder.write("tenants.yaml", tenants);
        self.gate.hang_up();
    }
}

impl Deref for Api {
    type Target = ApiClient;

    fn deref(&self) -> &ApiClient {
        &self.client
    }
}
