//! A small server, over TLS, plain TCP or a unix socket, that answers what a test wants.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::certificates::Pki;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// The first word of the first line.
    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap()
    }

    /// The second word of the first line.
    pub(crate) fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Sends these bytes and closes.
    Raw(Vec<u8>),
    /// Never answers.
    Silence,
}

impl Reply {
    /// An answer with status, further headers and body.
    pub(crate) fn with(status: &str, headers: &str, body: &[u8]) -> Self {
        let mut raw = format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            body.len()
        )
        .into_bytes();
        raw.extend_from_slice(body);
        Self::Raw(raw)
    }

    /// A good answer with this body.
    pub(crate) fn json(body: &Value) -> Self {
        Self::with(
            "200 OK",
            "Content-Type: application/json\r\n",
            body.to_string().as_bytes(),
        )
    }

    /// An AdmissionReview with this response.
    pub(crate) fn review(response: &Value) -> Self {
        Self::json(
            &json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}),
        )
    }
}

type Handler = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

/// A server that runs until the test ends.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) address: Option<SocketAddr>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Remote {
    pub(crate) fn https(
        pki: &Pki,
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![pki.certificate.clone()], pki.key.clone_key())
            .unwrap();
        Self::tcp(Some(Arc::new(config)), handler)
    }

    pub(crate) fn http(handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::tcp(None, handler)
    }

    fn tcp(
        tls: Option<Arc<ServerConfig>>,
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (handler, seen): (Handler, _) = (Arc::new(handler), Arc::default());
        let record = Arc::clone(&seen);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (handler, record, tls) =
                    (Arc::clone(&handler), Arc::clone(&record), tls.clone());
                thread::spawn(move || match tls {
                    None => serve(stream, &handler, &record),
                    Some(tls) => {
                        let connection = ServerConnection::new(tls).unwrap();
                        serve(StreamOwned::new(connection, stream), &handler, &record)
                    }
                });
            }
        });
        Self {
            address: Some(address),
            seen,
        }
    }

    pub(crate) fn unix(
        path: &Path,
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let (handler, seen): (Handler, _) = (Arc::new(handler), Arc::default());
        let record = Arc::clone(&seen);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (handler, record) = (Arc::clone(&handler), Arc::clone(&record));
                thread::spawn(move || serve(stream, &handler, &record));
            }
        });
        Self {
            address: None,
            seen,
        }
    }

    /// Host and port.
    pub(crate) fn place(&self) -> String {
        self.address.unwrap().to_string()
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// One request of a connection. A client that goes away is no fault.
fn serve(mut stream: impl Read + Write, handler: &Handler, record: &Mutex<Vec<Seen>>) {
    let Some(seen) = read(&mut stream) else {
        return;
    };
    record.lock().unwrap().push(seen.clone());
    match handler(&seen) {
        Reply::Raw(bytes) => {
            let _ = stream.write_all(&bytes);
            let _ = stream.flush();
        }
        Reply::Silence => loop {
            thread::sleep(Duration::from_secs(600));
        },
    }
}

fn read(stream: &mut impl Read) -> Option<Seen> {
    let mut seen = Seen {
        head: read_until(stream, "\r\n\r\n")?,
        body: Vec::new(),
    };
    if seen.header("transfer-encoding").is_some() {
        loop {
            let line = read_until(stream, "\r\n")?;
            let length = usize::from_str_radix(line.trim(), 16).unwrap();
            let mut chunk = vec![0; length + 2];
            stream.read_exact(&mut chunk).ok()?;
            chunk.truncate(length);
            seen.body.extend(chunk);
            if length == 0 {
                return Some(seen);
            }
        }
    }
    let length = seen
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    seen.body = vec![0; length];
    stream.read_exact(&mut seen.body).ok()?;
    Some(seen)
}

fn read_until(stream: &mut impl Read, end: &str) -> Option<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(end.as_bytes()) {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        text.push(byte[0]);
    }
    String::from_utf8(text).ok()
}
