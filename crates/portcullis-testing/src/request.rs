//! A request as a server gets it.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// A whole request over HTTP/1.1.
#[derive(Debug, Clone)]
pub struct Request {
    /// The first line and the headers, each line ended by `\r\n`.
    pub head: String,
    /// The body, whether it came whole or in chunks.
    pub body: Vec<u8>,
}

impl Request {
    /// Reads the next one; none when the client is done.
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut request = Self {
            head: String::new(),
            body: Vec::new(),
        };
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if line.trim().is_empty() {
                break;
            }
            request.head.push_str(&line);
        }
        request.read_body(stream)?;
        Ok(Some(request))
    }

    fn read_body(&mut self, stream: &mut impl BufRead) -> io::Result<()> {
        if self.header("transfer-encoding").is_none() {
            let length = self.header("content-length").map(str::parse).transpose();
            self.body = vec![0; length.map_err(io::Error::other)?.unwrap_or(0)];
            return stream.read_exact(&mut self.body);
        }
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            stream.take(size as u64).read_to_end(&mut self.body)?;
            stream.read_line(&mut line)?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    /// The first word of the first line.
    #[must_use]
    pub fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// The second word of the first line: the path with its query.
    #[must_use]
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The first header of this name, in either case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut headers = lines.filter_map(|line| line.split_once(':'));
        headers
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }

    /// The bearer token.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.text()))
    }
}
