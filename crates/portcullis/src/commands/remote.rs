//! What commands that ask a running server share: the connection, paths, and how they end.

use std::ops::ControlFlow;

use bytes::Bytes;
use portcullis_core::percent::encoded;
use serde_json::Value;

use super::text::error;
use crate::arguments::Server;
use crate::client::{ApiRequest, Client, ClientError, ServerAccess};
use crate::exit::Exit;

/// A running server.
#[derive(Debug)]
pub(super) struct Remote {
    client: Client,
}

impl Remote {
    /// The server that the command line or the environment names; does not connect yet.
    pub(super) fn open(server: &Server) -> Result<Self, ClientError> {
        let access = ServerAccess::required(
            server.server.as_deref(),
            server.token.as_ref(),
            server.ca.as_ref(),
        )?;
        Self::of(&access)
    }

    /// This server; does not connect yet.
    pub(super) fn of(access: &ServerAccess) -> Result<Self, ClientError> {
        let client = Client::new(access)?;
        Ok(Self { client })
    }

    /// Reads something.
    pub(super) fn get(&mut self, path: &[&str]) -> Result<Value, ClientError> {
        self.ask(ApiRequest::get(joined(path)?))
    }

    /// Reads something that is plain text.
    pub(super) fn text(&mut self, path: &[&str]) -> Result<Bytes, ClientError> {
        self.client.ask(ApiRequest::get(joined(path)?))
    }

    /// Reads something about which there is more to say.
    pub(super) fn get_with(
        &mut self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Value, ClientError> {
        self.ask(ApiRequest::get(joined(path)? + &queried(query)))
    }

    /// Reads something large, piece by piece, until it ends or the caller stops.
    pub(super) fn pieces(
        &mut self,
        path: &[&str],
        query: &[(&str, &str)],
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), ClientError> {
        self.client.pieces(joined(path)? + &queried(query), take)
    }

    /// Changes something.
    pub(super) fn post(&mut self, path: &[&str], body: &Value) -> Result<Value, ClientError> {
        self.ask(ApiRequest::post(joined(path)?, body))
    }

    /// Changes something that has no body.
    pub(super) fn act(&mut self, path: &[&str]) -> Result<Value, ClientError> {
        self.ask(ApiRequest::post(
            joined(path)?,
            &Value::Object(serde_json::Map::new()),
        ))
    }

    /// Changes a part of something.
    pub(super) fn patch(&mut self, path: &[&str], body: &Value) -> Result<Value, ClientError> {
        self.ask(ApiRequest::patch(joined(path)?, body))
    }

    /// Removes something.
    pub(super) fn delete(&mut self, path: &[&str]) -> Result<(), ClientError> {
        let question = ApiRequest::delete(joined(path)?);
        self.client.ask(question).map(drop)
    }

    fn ask(&mut self, question: ApiRequest) -> Result<Value, ClientError> {
        let answer = self.client.ask(question)?;
        serde_json::from_slice(&answer).map_err(|error| ClientError::senseless("JSON", &error))
    }
}

/// Ends a command, with a word about what is wrong.
pub(super) fn ended(done: Result<(), ClientError>) -> Exit {
    match done {
        Ok(()) => Exit::Yes,
        Err(why) => {
            error::tell(&why.to_string());
            why.exit()
        }
    }
}

/// A path below `/api`, in which every part is a single segment, whatever it holds.
fn joined(parts: &[&str]) -> Result<String, ClientError> {
    let mut path = "/api".to_owned();
    for part in parts {
        // A proxy on the way to the server would take these for another path.
        if matches!(*part, "" | "." | "..") {
            let wrong = format!("invalid name `{part}`");
            return Err(ClientError::Usage(wrong));
        }
        path.push('/');
        path.push_str(&encoded(part));
    }
    Ok(path)
}

/// The query of an address; empty if there is nothing to say.
fn queried(query: &[(&str, &str)]) -> String {
    let pairs = query
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    let pairs: Vec<String> = pairs.collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("?{}", pairs.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_stays_in_its_parameter() {
        assert_eq!(queried(&[]), "");
        assert_eq!(
            queried(&[("vertex", "Secret:a/b&c=d"), ("x", "")]),
            "?vertex=Secret%3Aa%2Fb%26c%3Dd&x="
        );
    }

    #[test]
    fn parts_stay_single_segments() {
        assert_eq!(
            joined(&["tenant", "a b", "project", "org/p?x#y", "autohold"]).unwrap(),
            "/api/tenant/a%20b/project/org%2Fp%3Fx%23y/autohold"
        );
        for part in ["", ".", ".."] {
            let wrong = joined(&["tenant", part]).unwrap_err();
            assert_eq!(wrong.exit(), Exit::Usage, "{part}");
        }
    }
}
