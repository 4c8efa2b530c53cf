//! A small client of the REST API for commands, with limits on everything.
//!
//! It blocks: inside is a single-threaded runtime. Redirects are not followed, every answer has a
//! deadline and a size, and the token is in no error.

mod access;
mod error;
mod events;
mod exchange;

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use portcullis_net::header::HeaderValue;
use portcullis_net::{Connection, Pieces};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

pub(crate) use self::access::ServerAccess;
pub(crate) use self::error::ClientError;
use self::events::{Events, SILENCE};
pub(crate) use self::exchange::ApiRequest;
use self::exchange::{Shared, within};
pub(crate) use crate::secret::Secret;

/// How many exchanges are under way at once.
pub(crate) const AT_ONCE: usize = 4;

/// A client of one server.
#[derive(Debug)]
pub(crate) struct Client {
    runtime: Arc<Runtime>,
    shared: Arc<Shared>,
    /// Connections that wait for the next question.
    idle: Vec<Connection>,
}

impl Client {
    /// Prepares the client; does not connect yet.
    pub(crate) fn new(access: &ServerAccess) -> Result<Self, ClientError> {
        let address = access.address()?;
        if access.token.is_some() && !address.is_confidential() {
            return Err(ClientError::Usage(
                "tokens are not sent to other machines over plain http://: use https:// (with --ca FILE for a private CA), or unix:// on the same machine".to_owned(),
            ));
        }
        let authorization = access.token.as_ref().map(bearer).transpose()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| ClientError::Unreachable(format!("can't start: {error}")))?;
        let client = access.client(address)?;
        Ok(Self {
            runtime: Arc::new(runtime),
            shared: Arc::new(Shared {
                place: client.address().to_string(),
                client,
                authorization,
            }),
            idle: Vec::new(),
        })
    }

    /// Asks, and waits for the whole answer.
    pub(crate) fn ask(&mut self, question: ApiRequest) -> Result<Bytes, ClientError> {
        let mut answers = self.ask_all(vec![question]);
        answers.pop().unwrap_or(Err(ClientError::lost()))
    }

    /// Asks several questions, a few at once; answers stand in the order of the questions.
    pub(crate) fn ask_all(
        &mut self,
        questions: Vec<ApiRequest>,
    ) -> Vec<Result<Bytes, ClientError>> {
        let mut answers: Vec<_> = questions.iter().map(|_| Err(ClientError::lost())).collect();
        let mut waiting = questions.into_iter().enumerate();
        let (shared, idle) = (&self.shared, &mut self.idle);
        self.runtime.block_on(async {
            let mut running = JoinSet::new();
            loop {
                while running.len() < AT_ONCE {
                    let Some((number, question)) = waiting.next() else {
                        break;
                    };
                    let (shared, sender) = (Arc::clone(shared), idle.pop());
                    running.spawn(async move {
                        let (answer, sender) = shared.exchange(question, sender).await;
                        (number, answer, sender)
                    });
                }
                let Some(ended) = running.join_next().await else {
                    break;
                };
                if let Ok((number, answer, sender)) = ended {
                    if let Some(place) = answers.get_mut(number) {
                        *place = answer;
                    }
                    idle.extend(sender);
                }
            }
        });
        answers
    }

    /// Sends a request, and hands over the answer piece by piece, until it ends or the caller stops.
    pub(crate) fn pieces(
        &self,
        path: impl Into<String>,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), ClientError> {
        let mut pieces = self.open(&ApiRequest {
            accept: "*/*",
            ..ApiRequest::get(path)
        })?;
        loop {
            let next = self.runtime.block_on(pieces.next(SILENCE));
            match next.map_err(|error| self.shared.failed(&error))? {
                None => return Ok(()),
                Some(bytes) if take(&bytes).is_break() => return Ok(()),
                Some(_) => {}
            }
        }
    }

    /// Opens a stream of events.
    pub(crate) fn events(&self, path: impl Into<String>) -> Result<Events, ClientError> {
        let pieces = self.open(&ApiRequest {
            accept: "text/event-stream",
            ..ApiRequest::get(path)
        })?;
        let runtime = Arc::clone(&self.runtime);
        Ok(Events::new(runtime, &self.shared.place, pieces))
    }

    /// Asks, and waits until the answer begins.
    fn open(&self, question: &ApiRequest) -> Result<Pieces, ClientError> {
        let shared = &self.shared;
        self.runtime.block_on(async {
            let opened = async {
                let mut connection = shared.connect().await?;
                let response = shared.send(&mut connection, question).await?;
                if response.status().is_success() {
                    return Ok(Pieces::new(response, connection));
                }
                Err(shared.refusal(response).await)
            };
            within(&shared.place, opened).await
        })
    }
}

fn bearer(token: &Secret) -> Result<HeaderValue, ClientError> {
    let wrong = || {
        ClientError::Usage("invalid token: it contains characters that are not allowed".to_owned())
    };
    let text = token.0.trim();
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(wrong());
    }
    let mut value = HeaderValue::try_from(format!("Bearer {text}")).map_err(|_| wrong())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;
