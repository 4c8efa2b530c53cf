//! The HTTP requests the harness makes itself, to plain listeners on loopback.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that is used for one request after the other: thousands of them take seconds.
#[derive(Debug)]
pub struct Connection {
    port: u16,
    stream: Option<BufReader<TcpStream>>,
}

impl Connection {
    /// To this port, when it is needed.
    #[must_use]
    pub fn new(port: u16) -> Self {
        Self { port, stream: None }
    }

    /// Another one to the same port.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(self.port)
    }

    /// Posts a document; the status and document of the answer.
    ///
    /// # Errors
    /// When nobody answers, or with something else than JSON.
    pub fn post(&mut self, path: &str, document: &Value) -> io::Result<(u16, Value)> {
        // A connection that was not used for a while may be closed.
        let answer = match self.exchange(path, document) {
            Err(_) => self.exchange(path, document),
            answer => answer,
        };
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    fn exchange(&mut self, path: &str, document: &Value) -> io::Result<(u16, Value)> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let body = document.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.get_mut().write_all(request.as_bytes())?;
        let answer = read_answer(&mut stream)?;
        self.stream = Some(stream);
        Ok(answer)
    }
}

fn read_answer(stream: &mut impl BufRead) -> io::Result<(u16, Value)> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let first = read_line(stream)?;
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| wrong("no status"))?;
    let (mut length, mut chunked) = (0, false);
    loop {
        let line = read_line(stream)?.to_ascii_lowercase();
        match line.split_once(':') {
            None if line.is_empty() => break,
            Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
            Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            let size = usize::from_str_radix(&read_line(stream)?, 16);
            let size = size.map_err(|_| wrong("no size of a chunk"))?;
            let start = body.len();
            body.resize(start + size, 0);
            stream.read_exact(body.get_mut(start..).unwrap_or_default())?;
            read_line(stream)?;
            if size == 0 {
                break;
            }
        }
    } else {
        body.resize(length, 0);
        stream.read_exact(&mut body)?;
    }
    Ok((status, serde_json::from_slice(&body)?))
}

/// A line without its end.
fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// Status and body of `GET path` from a plain listener on loopback, or `None`
/// when nobody answers.
pub(crate) fn get(port: u16, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split(' ').nth(1)?.parse().ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    Some((status, body.to_owned()))
}
