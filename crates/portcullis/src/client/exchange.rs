//! One exchange with the server: a question, and the whole answer or why there is none.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response};
use tokio::time::timeout;

use super::ClientError;
use super::connection::{Connector, Sender};

/// How long one exchange may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const LARGEST_ANSWER: usize = 64 << 20;
/// The most bytes of an answer that only says what is wrong.
const LARGEST_ERROR: usize = 64 << 10;

/// What every exchange needs.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) connector: Connector,
    pub(super) authorization: Option<HeaderValue>,
}

/// One question to the server.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(super) method: Method,
    /// Path and query, below the server's address.
    pub(super) path: String,
    /// JSON.
    pub(super) body: Option<Bytes>,
    pub(super) accept: &'static str,
}

impl Question {
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
    match timeout(PATIENCE, what).await {
        Ok(result) => result,
        Err(_) => Err(ClientError::Unreachable(format!(
            "{place}: no answer within {} seconds",
            PATIENCE.as_secs()
        ))),
    }
}

impl Shared {
    /// One exchange, on this connection if it still is one; gives back the connection.
    pub(super) async fn exchange(
        &self,
        question: Question,
        idle: Option<Sender>,
    ) -> (Result<Bytes, ClientError>, Option<Sender>) {
        let mut kept = None;
        let asked = async {
            let (sender, body) = self.answered(&question, idle).await?;
            kept = Some(sender);
            Ok(body)
        };
        let answer = within(self.connector.place(), asked).await;
        (answer, kept)
    }

    async fn answered(
        &self,
        question: &Question,
        idle: Option<Sender>,
    ) -> Result<(Sender, Bytes), ClientError> {
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
        let mut sender = self.connector.connect().await?;
        let response = self.send(&mut sender, question).await?;
        let body = self.body(response).await?;
        Ok((sender, body))
    }

    pub(super) async fn send(
        &self,
        sender: &mut Sender,
        question: &Question,
    ) -> Result<Response<Incoming>, ClientError> {
        let address = self.connector.address();
        let mut request = Request::builder()
            .method(question.method.clone())
            .uri(format!("{}{}", address.prefix(), question.path))
            .header(HOST, address.authority())
            .header(ACCEPT, question.accept)
            .header(
                USER_AGENT,
                concat!("portcullis/", env!("CARGO_PKG_VERSION")),
            );
        if let Some(value) = &self.authorization {
            request = request.header(AUTHORIZATION, value);
        }
        if question.body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = question.body.clone().unwrap_or_default();
        let request = request
            .body(Full::new(body))
            .map_err(|_| ClientError::Location("this can't be asked for".to_owned()))?;
        let response = sender.send(request).await;
        response.map_err(|error| self.broken(&error))
    }

    async fn body(&self, response: Response<Incoming>) -> Result<Bytes, ClientError> {
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let limited = Limited::new(response.into_body(), LARGEST_ANSWER);
        let collected = limited.collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                let place = self.connector.place();
                ClientError::Unreachable(format!(
                    "{place}: the answer has more than {LARGEST_ANSWER} bytes"
                ))
            } else {
                self.broken(error.as_ref())
            }
        })?;
        Ok(collected.to_bytes())
    }

    /// What the server says is wrong.
    pub(super) async fn refusal(&self, response: Response<Incoming>) -> ClientError {
        let status = response.status();
        let body = Limited::new(response.into_body(), LARGEST_ERROR).collect();
        let body = body.await.map(Collected::to_bytes).unwrap_or_default();
        let has_token = self.authorization.is_some();
        ClientError::refused(self.connector.place(), status, &body, has_token)
    }

    fn broken(&self, error: &(dyn std::error::Error + 'static)) -> ClientError {
        ClientError::broken(self.connector.place(), error)
    }
}
