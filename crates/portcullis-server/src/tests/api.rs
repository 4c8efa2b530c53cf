//! The guarded REST API: which caller gets which answer.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are made where they are handed over"
)]

mod answers;
mod cases;
mod ci;
mod insight;
mod playground;
mod queue;
mod records;
mod runners;
mod schema;
mod walk;

use std::ops::Deref;

use portcullis_testing::{ApiClient, api_files};
use serde_json::{Value, json};

use super::harness::{Gate, Setup};

/// A server with an API.
struct Api {
    gate: Gate,
    client: ApiClient,
}

impl Api {
    #[track_caller]
    fn start(tenants: &Value) -> Self {
        Self::of(Some(tenants), &json!({}))
    }

    /// The same with further keys of the configuration, and perhaps without a file of tenants.
    #[track_caller]
    fn of(tenants: Option<&Value>, more: &Value) -> Self {
        let (mut config, files) = api_files("127.0.0.1:2", tenants);
        for (key, value) in more.as_object().unwrap() {
            config[key] = value.clone();
        }
        let setup = files
            .into_iter()
            .fold(Setup::new(config), |setup, (name, text)| {
                setup.file(&name, text)
            });
        let gate = setup.start();
        let client = ApiClient::new(gate.at("api"));
        Self { gate, client }
    }
}

impl Deref for Api {
    type Target = ApiClient;

    fn deref(&self) -> &ApiClient {
        &self.client
    }
}
