//! One exchange with the server: a request, and the whole answer or the error.

use std::time::Duration;

use bytes::Bytes;
use portcullis_core::clock::Stopwatch;
use portcullis_net::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use portcullis_net::{
    Address, Client, Connection, Deadline, Error, Method, Request, Response, read,
};

use super::ClientError;
use crate::output;

/// How long one exchange may take.
const PATIENCE: Deadline = Deadline::After(Duration::from_secs(30));
/// The most bytes of an answer.
const LARGEST_ANSWER: usize = 64 << 20;
/// The most bytes of an answer that only says what is wrong.
const LARGEST_ERROR: usize = 64 << 10;

/// What every exchange needs.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) client: Client,
    /// The server, as shown in messages.
    pub(super) place: String,
    pub(super) authorization: Option<HeaderValue>,
}

/// One question to the server.
#[derive(Debug, Clone)]
pub(crate) struct ApiRequest {
    pub(super) method: Method,
    /// Path and query, below the server's address.
    pub(super) path: String,
    /// JSON.
    pub(super) body: Option<Bytes>,
    pub(super) accept: &'static str,
}

impl ApiRequest {
    /// Only reads.
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            body: None,
            accept: "application/json",
        }
    }

    /// Changes something: is sent once, whatever becomes of the answer.
    pub(crate) fn post(path: impl Into<String>, body: &serde_json::Value) -> Self {
        Self {
            method: Method::POST,
            body: Some(Bytes::from(body.to_string())),
            ..Self::get(path)
        }
    }

    /// Changes a part of something: is sent once, too.
    pub(crate) fn patch(path: impl Into<String>, body: &serde_json::Value) -> Self {
        Self {
            method: Method::PATCH,
            ..Self::post(path, body)
        }
    }

    /// Removes something: is sent once, too.
    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self {
            method: Method::DELETE,
            ..Self::get(path)
        }
    }
}

/// Waits, but not for ever.
pub(super) async fn within<T>(
    place: &str,
    what: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    match PATIENCE.bound(what).await {
        Ok(result) => result,
        Err(late) => Err(ClientError::of(place, &late.into())),
    }
}

impl Shared {
    /// One exchange, on this connection if it still is one; gives back the connection.
    pub(super) async fn exchange(
        &self,
        question: ApiRequest,
        idle: Option<Connection>,
    ) -> (Result<Bytes, ClientError>, Option<Connection>) {
        let mut kept = None;
        let asked = async {
            let (sender, body) = self.answered(&question, idle).await?;
            kept = Some(sender);
            Ok(body)
        };
        let answer = within(&self.place, asked).await;
        (answer, kept)
    }

    async fn answered(
        &self,
        question: &ApiRequest,
        idle: Option<Connection>,
    ) -> Result<(Connection, Bytes), ClientError> {
        // A connection that waited may have been closed by the other end. A question that only reads
        // may be asked again; any other goes over a connection of its own, and goes once.
        if let Some(mut sender) = idle
            && question.method == Method::GET
            && sender.is_ready().await
            && let Ok(response) = self.send(&mut sender, question).await
        {
            let body = self.body(response).await?;
            return Ok((sender, body));
        }
        let mut sender = self.connect().await?;
        let response = self.send(&mut sender, question).await?;
        let body = self.body(response).await?;
        Ok((sender, body))
    }

    pub(super) async fn connect(&self) -> Result<Connection, ClientError> {
        output::details(2, || format!("connecting to {}", self.place));
        let connected = self.client.connect().await;
        connected.map_err(|error| self.failed(&error))
    }

    pub(super) async fn send(
        &self,
        connection: &mut Connection,
        question: &ApiRequest,
    ) -> Result<Response, ClientError> {
        let prefix = match self.client.address() {
            Address::Web(web) => &web.path,
            Address::Unix(_) => "",
        };
        let mut request = Request::new(question.method.clone())
            .with_path(format!("{prefix}{}", question.path))
            .with_header(ACCEPT, HeaderValue::from_static(question.accept));
        if let Some(value) = &self.authorization {
            request = request.with_header(AUTHORIZATION, value.clone());
        }
        if let Some(body) = &question.body {
            request = request.with_body("application/json", body.clone());
        }
        let sent = Stopwatch::start();
        let response = connection.send(&request).await;
        output::detail(|| {
            let took = sent.elapsed().as_millis();
            let outcome = match &response {
                Ok(response) => response.status().as_u16().to_string(),
                Err(error) => error.to_string(),
            };
            let (method, path) = (&question.method, &question.path);
            format!("{method} {prefix}{path}: {outcome} in {took} ms")
        });
        response.map_err(|error| self.failed(&error))
    }

    async fn body(&self, response: Response) -> Result<Bytes, ClientError> {
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let answer = read(response, LARGEST_ANSWER).await;
        Ok(answer.map_err(|error| self.failed(&error))?.body)
    }

    /// What the server says is wrong.
    pub(super) async fn refusal(&self, response: Response) -> ClientError {
        let status = response.status();
        let answer = read(response, LARGEST_ERROR).await;
        let body = answer.map(|answer| answer.body).unwrap_or_default();
        let has_token = self.authorization.is_some();
        ClientError::refused(&self.place, status, &body, has_token)
    }

    pub(super) fn failed(&self, error: &Error) -> ClientError {
        ClientError::of(&self.place, error)
    }
}
