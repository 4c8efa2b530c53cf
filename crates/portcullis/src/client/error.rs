//! Why there is no answer.

use std::error::Error;

use hyper::StatusCode;
use serde::Deserialize;

use crate::exit::Exit;

/// The most characters of what a server says that are repeated.
const LONGEST: usize = 500;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClientError {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The server or its authorities are not given rightly.
    #[error("{0}")]
    Location(String),
    /// The server doesn't know us, or doesn't let us.
    #[error("{0}")]
    NotSignedIn(String),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The server can't be reached, or can't answer.
    #[error("{0}")]
    Unreachable(String),
}

impl ClientError {
    /// What the program ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Location(_) => Exit::Invalid,
            Self::NotSignedIn(_) => Exit::NotSignedIn,
            Self::NotFound(_) => Exit::Nothing,
            Self::Unreachable(_) => Exit::Failed,
        }
    }

    /// Nobody answered, and nobody says why.
    pub(super) fn lost() -> Self {
        Self::Unreachable("the answer got lost".to_owned())
    }

    /// An exchange that broke off.
    pub(super) fn broken(place: &str, error: &(dyn Error + 'static)) -> Self {
        let mut text = format!("{place}: the exchange failed: {error}");
        if let Some(cause) = error.source() {
            text.push_str(&format!(": {cause}"));
        }
        Self::Unreachable(text)
    }

    /// An answer that could be read, but makes no sense.
    pub(crate) fn senseless(what: &str, error: &serde_json::Error) -> Self {
        Self::Unreachable(format!("the server's answer is no {what}: {error}"))
    }

    /// An answer that says what is wrong.
    pub(super) fn refused(place: &str, status: StatusCode, body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Body {
            error: Said,
            #[serde(default)]
            request_id: Option<String>,
        }
        #[derive(Deserialize)]
        struct Said {
            message: String,
        }
        let said: Option<Body> = serde_json::from_slice(body).ok();
        let mut text = format!("{place} answers {}", status.as_u16());
        if let Some(body) = said {
            let message: String = body.error.message.chars().take(LONGEST).collect();
            text.push_str(&format!(": {message}"));
            if let Some(id) = body.request_id.filter(|id| !id.is_empty()) {
                let id: String = id.chars().take(64).collect();
                text.push_str(&format!(" (request {id})"));
            }
        } else if let Some(reason) = status.canonical_reason() {
            text.push_str(&format!(": {reason}"));
        }
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Self::NotSignedIn(text),
            StatusCode::NOT_FOUND => Self::NotFound(text),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Self::Usage(text),
            _ => Self::Unreachable(text),
        }
    }
}
