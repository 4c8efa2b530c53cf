//! Answers, whole or in pieces, within limits.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use tokio::time::timeout;

use super::{Connection, Response};
use crate::{Deadline, Error};

/// What bounds an exchange.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For all of it, from looking up the name to the last byte of the answer.
    pub deadline: Deadline,
    /// The most bytes the answer may have.
    pub body: usize,
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    /// Whether it worked; redirects are not followed.
    pub status: StatusCode,
    /// What came before the body.
    pub headers: HeaderMap,
    /// The body, as it came.
    pub body: Bytes,
    /// What came after the body.
    pub trailers: HeaderMap,
}

/// Waits for the rest of an answer, of at most so many bytes.
///
/// # Errors
///
/// When it breaks off, or is larger.
pub async fn read(response: Response, most: usize) -> Result<HttpResponse, Error> {
    let (head, body) = response.into_parts();
    let read = Limited::new(body, most).collect().await;
    let collected = read.map_err(|error| {
        if error.is::<LengthLimitError>() {
            return Error::TooLarge(most);
        }
        match error.downcast() {
            Ok(error) => Error::Exchange(*error),
            Err(error) => Error::Connect(std::io::Error::other(error)),
        }
    })?;
    Ok(HttpResponse {
        status: head.status,
        headers: head.headers,
        trailers: collected.trailers().cloned().unwrap_or_default(),
        body: collected.to_bytes(),
    })
}

/// An answer that comes in pieces, and its connection.
#[derive(Debug)]
pub struct Pieces {
    body: Incoming,
    _connection: Connection,
}

impl Pieces {
    /// The pieces of this answer.
    pub fn new(response: Response, connection: Connection) -> Self {
        Self {
            body: response.into_body(),
            _connection: connection,
        }
    }

    /// Waits for the next piece; none at the end of the answer.
    ///
    /// # Errors
    ///
    /// When it breaks off, or nothing comes for as long as this.
    pub async fn next(&mut self, silence: Duration) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = timeout(silence, self.body.frame()).await;
            match frame.map_err(|_| Error::Silent(silence))? {
                None => return Ok(None),
                Some(Err(error)) => return Err(Error::Exchange(error)),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }
}
