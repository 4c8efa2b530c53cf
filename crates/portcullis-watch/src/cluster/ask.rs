//! Single questions to the API server, of which also refusals are answers: for those who look at a cluster.

use std::time::{Duration, SystemTime};

use http::Method;
use serde_json::Value;

use super::Cluster;
use super::exchange::Sent;

/// Larger answers are not read.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// What the API server answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerAnswer {
    /// The status of HTTP.
    pub status: u16,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// The time on the server's clock.
    pub time: Option<SystemTime>,
}

impl ServerAnswer {
    /// Whether the request was granted.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// What the API server says is wrong.
    pub fn message(&self) -> &str {
        let message = self.body.get("message").and_then(Value::as_str);
        message.unwrap_or_default()
    }
}

impl Cluster {
    /// Reads what is at this path.
    ///
    /// # Errors
    ///
    /// Why there is no answer. One that refuses is an answer.
    pub async fn look(&self, path: &str, time: Duration) -> Result<ServerAnswer, String> {
        self.question(Method::GET, path, None, time).await
    }

    /// Asks whether this object could be created in this list. Nothing is stored.
    ///
    /// # Errors
    ///
    /// Why there is no answer. One that refuses is an answer.
    pub async fn try_create(
        &self,
        path: &str,
        object: &Value,
        time: Duration,
    ) -> Result<ServerAnswer, String> {
        let path = format!("{path}?dryRun=All");
        self.question(Method::POST, &path, Some(object), time).await
    }

    async fn question(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        time: Duration,
    ) -> Result<ServerAnswer, String> {
        let sent = body.map_or(Sent::Nothing, Sent::Object);
        let answer = self.exchange((method, path), sent, MAX_ANSWER, time).await;
        let answer = answer.map_err(|failure| failure.words)?;
        Ok(ServerAnswer {
            status: answer.status,
            body: serde_json::from_slice(&answer.body).unwrap_or_default(),
            time: answer.time,
        })
    }
}
