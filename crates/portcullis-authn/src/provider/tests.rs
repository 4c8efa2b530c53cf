//! Keys of providers: fetched, shared, rotated, kept through an outage, and never the wrong one.

mod discovery;
mod fetching;
mod picking;

use std::sync::Arc;

use serde_json::{Value, json};

use super::Provider;
use crate::authenticators::{Authenticators, Keyring};
use crate::error::Code;
use crate::settings::AuthenticatorSettings;
use crate::testing::{By, NOW, Pair, Reply, Server, at, claims, provider, token_with};

const ISSUER: &str = "https://sso.example";

fn keys(list: &[Value]) -> Reply {
    Reply::Body(json!({ "keys": list }).to_string())
}

/// A server that publishes these keys at every path.
fn publishing(list: Vec<Value>) -> Server {
    Server::http(move |_| keys(&list))
}

fn settings(server: &Server) -> AuthenticatorSettings {
    provider(ISSUER, Some(format!("{}/keys", server.url())))
}

fn made(server: &Server) -> Authenticators {
    Authenticators::new(vec![settings(server)], None).unwrap()
}

fn inner(authenticators: &Authenticators) -> Arc<Provider> {
    match &authenticators.list()[0].keys {
        Keyring::Provider(provider) => Arc::clone(provider),
        Keyring::Fixed(_) => panic!("no provider"),
    }
}

/// Waits until no fetch is under way. A background fetch holds the lock from the moment it is decided.
async fn fetched(authenticators: &Authenticators) {
    drop(inner(authenticators).flight.lock().await);
}

fn header(pair: &Pair, id: Option<&str>) -> Value {
    let alg = crate::key::Signing::from(pair.algorithm).name();
    match id {
        Some(id) => json!({ "alg": alg, "kid": id }),
        None => json!({ "alg": alg }),
    }
}

/// A token that is valid for two days, distinguished by a number.
fn signed(pair: &Pair, id: Option<&str>, number: u32) -> String {
    let said = claims(ISSUER, &json!({ "exp": NOW + 172_800, "n": number }));
    token_with(&header(pair, id), &said, &By::Pair(pair))
}

async fn code(authenticators: &Authenticators, token: &str, delta: i64) -> Option<Code> {
    let result = authenticators.verify(token, at(delta)).await;
    result.err().map(|error| error.code)
}
