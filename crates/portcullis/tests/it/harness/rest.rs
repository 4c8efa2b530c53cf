//! A small server that takes REST calls and records them.

use portcullis_testing::{Reply, Request, Server};
use serde_json::{Value, json};

/// The server.
pub(crate) struct Rest {
    pub(crate) url: String,
    server: Server,
}

/// What came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RestCall {
    /// Method and path, like `GET /api/tenants`.
    pub(crate) line: String,
    /// The bearer token.
    pub(crate) token: Option<String>,
    /// The body, if there is one.
    pub(crate) body: Option<Value>,
}

/// What it says: a status and a body.
pub(crate) type RestAnswer = (u16, String);

impl Rest {
    /// Answers every call with what this says.
    pub(crate) fn new(answer: impl Fn(&RestCall) -> RestAnswer + Send + Sync + 'static) -> Self {
        let server = Server::http(move |request| {
            let (status, body) = answer(&RestCall::of(request));
            Reply::Status(status, "", body)
        });
        Self {
            url: server.url(),
            server,
        }
    }

    /// Answers every call the same.
    pub(crate) fn always(status: u16, body: &Value) -> Self {
        let body = match status {
            204 => String::new(),
            _ => body.to_string(),
        };
        Self::new(move |_| (status, body.clone()))
    }

    /// Rejects every call.
    pub(crate) fn refusing(status: u16, message: &str, details: &Value) -> Self {
        let error = json!({"code": "x", "message": message, "details": details});
        Self::always(status, &json!({"error": error, "request_id": "01REQUEST"}))
    }

    /// What came so far.
    pub(crate) fn calls(&self) -> Vec<RestCall> {
        self.server.requests().iter().map(RestCall::of).collect()
    }

    /// The only call that came.
    #[track_caller]
    pub(crate) fn call(&self) -> RestCall {
        let calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls[0].clone()
    }
}

impl RestCall {
    fn of(request: &Request) -> Self {
        Self {
            line: format!("{} {}", request.method(), request.target()),
            token: request.token().map(str::to_owned),
            body: (!request.body.is_empty()).then(|| request.json()),
        }
    }
}
