//! Single objects, read and written as they are: what the server keeps in the cluster itself.

use std::time::{Duration, SystemTime};

use http::Method;
use serde_json::Value;

use super::Cluster;
use super::exchange::{Exchanged, Sent};
use super::failure::Failure;

/// Larger objects are not read; etcd keeps no larger ones.
const LARGEST: usize = 8 * 1024 * 1024;
/// Who writes, in `metadata.managedFields`.
const MANAGER: &str = "portcullis";

/// Why an object could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// There is no such object.
    #[error("{words}")]
    Missing {
        /// What the API server said.
        words: String,
        /// The time at the API server when it answered.
        date: Option<SystemTime>,
    },
    /// It exists already, or was changed by another client since it was read.
    #[error("{0}")]
    Conflict(String),
    /// Anything else; trying again may help.
    #[error("{0}")]
    Failed(String),
}

/// An answer of the API server.
#[derive(Debug)]
pub(super) struct Answered {
    /// The object.
    pub(super) object: Value,
    /// The time at the API server, to the second.
    pub(super) date: Option<SystemTime>,
}

impl Cluster {
    /// One request about one object.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        sent: Sent<'_>,
        time: Duration,
    ) -> Result<Answered, ObjectError> {
        let uri = match sent {
            Sent::Nothing => path.to_owned(),
            Sent::Object(_) | Sent::JsonPatch(_) => format!("{path}?fieldManager={MANAGER}"),
        };
        let answer = self.exchange((method, &uri), sent, LARGEST, time).await;
        let answer = answer.map_err(|failure| ObjectError::Failed(failure.words))?;
        if !answer.is_success() {
            return Err(refused(&answer));
        }
        let object = serde_json::from_slice(&answer.body);
        let object = object.map_err(|_| {
            ObjectError::Failed("the API server's answer is not an object".to_owned())
        })?;
        Ok(Answered {
            object,
            date: answer.time,
        })
    }
}

fn refused(answer: &Exchanged) -> ObjectError {
    let words = Failure::told(Some(answer.status), &answer.body).words;
    match answer.status {
        404 => ObjectError::Missing {
            words,
            date: answer.time,
        },
        409 => ObjectError::Conflict(words),
        _ => ObjectError::Failed(words),
    }
}

/// `metadata.resourceVersion` of an object.
pub(super) fn version(object: &Value) -> String {
    let version = object.pointer("/metadata/resourceVersion");
    version
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
