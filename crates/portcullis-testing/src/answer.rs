//! An answer over HTTP/1.1, and the one shape of errors.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads one answer; `has_body` is false for the answer to HEAD.
    ///
    /// # Errors
    ///
    /// When the stream ends, or what comes is not HTTP.
    pub fn read(stream: &mut impl BufRead, has_body: bool) -> io::Result<Self> {
        let first = line(stream)?;
        let status = first
            .split(' ')
            .nth(1)
            .and_then(|s| s.parse().ok())
            .ok_or_else(broken)?;
        let mut answer = Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        };
        loop {
            let line = line(stream)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(broken)?;
            answer
                .headers
                .push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if has_body && status >= 200 && status != 204 && status != 304 {
            answer.read_body(stream)?;
        }
        Ok(answer)
    }

    fn read_body(&mut self, stream: &mut impl BufRead) -> io::Result<()> {
        if let Some(length) = self.header("content-length") {
            self.body = vec![0; length.parse().map_err(|_| broken())?];
            return stream.read_exact(&mut self.body);
        }
        if self.header("transfer-encoding").is_none() {
            return stream.read_to_end(&mut self.body).map(drop);
        }
        loop {
            let size = usize::from_str_radix(&line(stream)?, 16).map_err(|_| broken())?;
            stream.take(size as u64).read_to_end(&mut self.body)?;
            line(stream)?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    /// The first header of this name, in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| {
            panic!(
                "the answer {} is not JSON ({e}): {}",
                self.status,
                self.text()
            )
        })
    }

    /// Whether anything in it allows the request.
    #[must_use]
    pub fn is_allow(&self) -> bool {
        let answer: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        ["response", "status"]
            .iter()
            .any(|part| answer[part]["allowed"] == true)
    }

    /// Asserts that this is an error in the one shape, and returns its `error` and `request_id`.
    #[track_caller]
    pub fn error(&self, status: u16) -> (Value, String) {
        assert_eq!(self.status, status, "{}", self.text());
        assert!(!self.is_allow(), "{}", self.text());
        let kind = self.header("content-type").unwrap_or_default();
        assert!(
            kind.starts_with("application/json"),
            "an error of type `{kind}`: {self:?}"
        );
        let answer = self.json();
        let (error, id) = (&answer["error"], &answer["request_id"]);
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        assert!(
            is_text(&error["code"]) && is_text(&error["message"]) && is_text(id),
            "{answer}"
        );
        (error.clone(), id.as_str().unwrap().to_owned())
    }

    /// Asserts that the error says where in the text the fault is.
    #[track_caller]
    pub fn place(&self) -> (u64, u64) {
        let (error, _) = self.error(400);
        let at = |key: &str| error["details"][key].as_u64().filter(|n| *n > 0);
        match (at("line"), at("column")) {
            (Some(line), Some(column)) => (line, column),
            _ => panic!("no line and column: {error}"),
        }
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}
