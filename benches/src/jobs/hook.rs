//! A webhook that accepts every job and adds a tag, as cheaply as possible: it reads the id and the ref of the job,
//! verifies nothing, and answers over the same connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::requests::{added_tag, first_id};
use crate::failure::{Context, Result};
use crate::http1;
use crate::load::runtime;

/// More than a job takes.
const BUFFER: usize = 16 << 10;

/// The webhook, at work until the program ends.
#[derive(Debug)]
pub(crate) struct Hook {
    address: SocketAddr,
    calls: Arc<AtomicU64>,
}

impl Hook {
    /// Starts it on a thread of its own.
    pub(crate) fn start() -> Result<Self> {
        let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0));
        let listener = listener.context("no port for the webhook")?;
        listener.set_nonblocking(true).context("the webhook")?;
        let address = listener.local_addr().context("the webhook")?;
        let calls = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&calls);
        let runtime = runtime()?;
        let serve = move || {
            runtime.block_on(async {
                let Ok(listener) = TcpListener::from_std(listener) else {
                    return;
                };
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(answer_on(stream, Arc::clone(&counter)));
                }
            });
        };
        let thread = std::thread::Builder::new().name("webhook".to_owned());
        thread.spawn(serve).context("no thread for the webhook")?;
        Ok(Self { address, calls })
    }

    /// Where it is.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How often it was called.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// Answers on one connection until it ends; whoever calls notices.
async fn answer_on(mut stream: TcpStream, calls: Arc<AtomicU64>) {
    let _ = stream.set_nodelay(true);
    let (mut received, mut answers) = (Vec::with_capacity(BUFFER), Vec::with_capacity(512));
    while matches!(stream.read_buf(&mut received).await, Ok(count) if count > 0) {
        answers.clear();
        let mut done = 0;
        while let Some((body, length)) = whole(received.get(done..).unwrap_or_default()) {
            answers.extend_from_slice(&answer(body));
            calls.fetch_add(1, Ordering::Relaxed);
            done += length;
        }
        received.drain(..done.min(received.len()));
        if !answers.is_empty() && stream.write_all(&answers).await.is_err() {
            return;
        }
    }
}

/// The body of the request at the start of the buffer, and the length of all of it.
fn whole(buffer: &[u8]) -> Option<(&[u8], usize)> {
    let head_length = http1::find(buffer, b"\r\n\r\n")?;
    let (head, rest) = buffer.split_at(head_length);
    let body = rest.get(4..)?;
    let mut lines = head.split(|byte| *byte == b'\n');
    let length = lines.find_map(http1::content_length)?;
    Some((body.get(..length)?, head_length + 4 + length))
}

/// The verdict on the job in this body.
fn answer(body: &[u8]) -> Vec<u8> {
    let Some(id) = first_id(body) else {
        return b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_vec();
    };
    let tag = added_tag(git_ref(body).unwrap_or_default());
    let verdict = format!(r#"[{{"id":{id},"admission":"accepted","tags":{{"add":["{tag}"]}}}}]"#);
    let length = verdict.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{verdict}"
    )
    .into_bytes()
}

fn git_ref(body: &[u8]) -> Option<&str> {
    let at = http1::find(body, b"\"ref\":\"")? + b"\"ref\":\"".len();
    let rest = body.get(at..)?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(rest.get(..end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_accepted_with_its_tag() {
        let body = br#"[{"version":1,"id":42,"ref":"main","user":{"id":7}}]"#;
        let text = String::from_utf8(answer(body)).unwrap();
        let verdict = r#"[{"id":42,"admission":"accepted","tags":{"add":["protected"]}}]"#;
        assert!(text.ends_with(verdict), "{text}");
        assert!(text.contains(&format!("content-length: {}\r\n", verdict.len())));
        assert!(answer(b"{}").starts_with(b"HTTP/1.1 400"));
    }

    #[test]
    fn requests_are_cut_out_of_what_was_received() {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}POST";
        assert_eq!(whole(request), Some((b"{}".as_slice(), request.len() - 4)));
        assert_eq!(whole(&request[..request.len() - 5]), None);
        assert_eq!(whole(b"POST / HTTP/1.1\r\n"), None);
    }
}
