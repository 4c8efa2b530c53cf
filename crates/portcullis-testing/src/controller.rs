//! Another admission controller, for reviews that are forwarded.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Pki, Reply, Request, Server};

/// Another admission controller, gone with this value.
#[derive(Debug)]
pub struct Controller {
    /// Its address, as policies name it.
    pub url: String,
    server: Server,
}

/// An allow.
#[must_use]
pub fn yes(review: &Value) -> (u16, String) {
    answered(review, json!({"allowed": true}))
}

/// A denial with this message.
#[must_use]
pub fn no(review: &Value, message: &str) -> (u16, String) {
    let status = json!({"message": message, "reason": "Elsewhere", "code": 418});
    answered(review, json!({"allowed": false, "status": status}))
}

/// A whole answer with this response.
#[must_use]
pub fn answered(review: &Value, mut response: Value) -> (u16, String) {
    response["uid"] = review["request"]["uid"].clone();
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response,
    });
    (200, answer.to_string())
}

/// Answers each review with a status and a body, on a connection of its own.
fn asking(
    opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static,
) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| {
        let (status, body) = opinion(&request.json());
        let headers = "Content-Type: application/json\r\nConnection: close\r\n";
        Reply::Status(status, headers, body)
    }
}

impl Controller {
    /// One on a unix socket.
    pub fn unix(
        path: &Path,
        opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let server = Server::unix(path, asking(opinion));
        Self {
            url: server.place(),
            server,
        }
    }

    /// One over plain HTTP on loopback.
    pub fn http(opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static) -> Self {
        Self::at(Server::http(asking(opinion)))
    }

    /// One over HTTPS on loopback, with the server's certificate.
    pub fn https(
        pki: &Pki,
        opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        Self::at(Server::https(&pki.server, asking(opinion)))
    }

    fn at(server: Server) -> Self {
        Self {
            url: format!("{}/review", server.url()),
            server,
        }
    }

    /// The reviews that came so far.
    #[must_use]
    pub fn seen(&self) -> Vec<Value> {
        self.server.requests().iter().map(Request::json).collect()
    }

    /// The header of this name in the last review, if it has one.
    #[must_use]
    pub fn last_header(&self, name: &str) -> Option<String> {
        let requests = self.server.requests();
        requests.last()?.header(name).map(str::to_owned)
    }

    /// Delays all answers until released.
    pub fn hold(&self) {
        self.server.hold();
    }

    /// Answers again.
    pub fn release(&self) {
        self.server.release();
    }
}
