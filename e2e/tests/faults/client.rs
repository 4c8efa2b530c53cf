//! Calls of the REST API, to servers that may be gone.

use portcullis_e2e::until_some;
use portcullis_testing::{Answer, Connection, request, tokens};
use serde_json::Value;

use crate::scene::PATIENCE;

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Nothing was sent.
    NotSent,
    /// It was sent, and the connection broke.
    Broken,
}

/// A client of one server, which keeps its connection.
#[derive(Debug)]
pub(crate) struct Client {
    port: u16,
    open: Option<Connection>,
}

impl Client {
    pub(crate) fn new(port: u16) -> Self {
        Self { port, open: None }
    }

    /// Calls as an administrator.
    pub(crate) fn call(
        &mut self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Answer, Silence> {
        let token = tokens::admin();
        self.call_as(&token, method, path, body)
    }

    /// Calls with this token.
    pub(crate) fn call_as(
        &mut self,
        token: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Answer, Silence> {
        let connection = match self.open.take() {
            Some(open) => Ok(open),
            None => Connection::tcp(self.port),
        };
        let mut connection = connection.map_err(|_| Silence::NotSent)?;
        connection.patience(PATIENCE);
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let bytes = request(method, path, &headers, body.as_bytes());
        let answer = connection
            .send(&bytes)
            .and_then(|()| connection.receive())
            .map_err(|_| Silence::Broken)?;
        if answer.header("connection") != Some("close") {
            self.open = Some(connection);
        }
        Ok(answer)
    }

    /// Reads something, as soon as it can be read.
    #[track_caller]
    pub(crate) fn read(&mut self, path: &str) -> Value {
        let mut last = None;
        until_some(path, PATIENCE, || {
            let answer = self.call("GET", path, &Value::Null).ok()?;
            let status = answer.status;
            last = Some(answer);
            (status == 200).then_some(())
        });
        last.unwrap().json()
    }
}
