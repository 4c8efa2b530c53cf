//! The answer of a server.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value;

/// What is answered.
#[derive(Clone)]
pub enum Reply {
    /// This text, with status 200.
    Body(String),
    /// This status with further headers, each ended by `\r\n`, and this text.
    Status(u16, &'static str, String),
    /// These bytes, whatever they are; then the connection is closed.
    Raw(Vec<u8>),
    /// Nothing, as long as the server is there.
    Hang,
    /// What this writes; then the connection is closed.
    Stream(Arc<Streaming>),
}

/// Writes an answer piece by piece.
pub type Streaming = dyn Fn(&mut dyn Write) -> io::Result<()> + Send + Sync;

impl Reply {
    /// A status like `404 Not Found`, further headers, each ended by `\r\n`, and any bytes; then the connection
    /// is closed.
    #[must_use]
    pub fn with(status: &str, headers: &str, body: &[u8]) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        Self::Raw([head.as_bytes(), body].concat())
    }

    /// A good answer with this document.
    #[must_use]
    pub fn json(document: &Value) -> Self {
        let headers = "Content-Type: application/json\r\n";
        Self::Status(200, headers, document.to_string())
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Body(_) => "Body",
            Self::Status(..) => "Status",
            Self::Raw(_) => "Raw",
            Self::Hang => "Hang",
            Self::Stream(_) => "Stream",
        })
    }
}
