//! Another admission controller, for reviews that are forwarded.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use portcullis_core::sync::{Condvar, Mutex};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::{PATIENCE, Pki};

/// What it says to a review: a status and a body.
type Opinion = dyn Fn(&Value) -> (u16, String) + Send + Sync;

/// Another admission controller, gone with this value.
#[derive(Debug)]
pub(crate) struct Controller {
    /// Its address, as policies name it.
    pub(crate) url: String,
    shared: Arc<Shared>,
    wake: Wake,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Wake {
    Socket(PathBuf),
    Port(u16),
}

struct Shared {
    opinion: Box<Opinion>,
    seen: Mutex<Vec<Value>>,
    /// Headers of what came, names in lower case.
    heads: Mutex<Vec<Vec<(String, String)>>>,
    /// Whether answers are held back.
    held: Mutex<bool>,
    released: Condvar,
    is_over: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// An allow.
pub(crate) fn yes(review: &Value) -> (u16, String) {
    answered(review, json!({"allowed": true}))
}

/// A refusal with this message.
pub(crate) fn no(review: &Value, message: &str) -> (u16, String) {
    let status = json!({"message": message, "reason": "Elsewhere", "code": 418});
    answered(review, json!({"allowed": false, "status": status}))
}

/// A whole answer with this response.
pub(crate) fn answered(review: &Value, mut response: Value) -> (u16, String) {
    response["uid"] = review["request"]["uid"].clone();
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response,
    });
    (200, answer.to_string())
}

impl Controller {
    /// One on a unix socket.
    pub(crate) fn unix(
        path: &Path,
        opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let wake = Wake::Socket(path.to_owned());
        let accept = move || listener.accept().map(|(stream, _)| stream);
        let patient = |stream: &UnixStream| stream.set_read_timeout(Some(PATIENCE));
        let open = move |stream: UnixStream| patient(&stream).map(|()| stream);
        Self::start(path.display().to_string(), wake, accept, open, opinion)
    }

    /// One over plain HTTP on loopback.
    pub(crate) fn http(opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let accept = move || listener.accept().map(|(stream, _)| stream);
        let patient = |stream: &TcpStream| stream.set_read_timeout(Some(PATIENCE));
        let open = move |stream: TcpStream| patient(&stream).map(|()| stream);
        let url = format!("http://127.0.0.1:{port}/review");
        Self::start(url, Wake::Port(port), accept, open, opinion)
    }

    /// One over HTTPS on loopback, with the server's certificate.
    pub(crate) fn https(
        pki: &Pki,
        opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let chain = vec![pki.server.certificate.clone()];
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, pki.server.key.clone_key())
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let accept = move || listener.accept().map(|(stream, _)| stream);
        let open = move |stream: TcpStream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            let session = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            Ok(StreamOwned::new(session, stream))
        };
        let url = format!("https://127.0.0.1:{port}/review");
        Self::start(url, Wake::Port(port), accept, open, opinion)
    }

    fn start<Raw: Send + 'static, Stream: Read + Write>(
        url: String,
        wake: Wake,
        accept: impl Fn() -> io::Result<Raw> + Send + 'static,
        open: impl Fn(Raw) -> io::Result<Stream> + Send + Sync + 'static,
        opinion: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            opinion: Box::new(opinion),
            seen: Mutex::default(),
            heads: Mutex::default(),
            held: Mutex::default(),
            released: Condvar::new(),
            is_over: AtomicBool::new(false),
        });
        let (all, open) = (Arc::clone(&shared), Arc::new(open));
        let accepting = std::thread::spawn(move || {
            while let Ok(raw) = accept() {
                if all.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (one, open) = (Arc::clone(&all), Arc::clone(&open));
                std::thread::spawn(move || open(raw).and_then(|stream| one.serve(stream)));
            }
        });
        Self {
            url,
            shared,
            wake,
            accepting: Some(accepting),
        }
    }

    /// The reviews that came so far.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.shared.seen.lock().clone()
    }

    /// The header of this name in the last review, if it has one.
    pub(crate) fn last_header(&self, name: &str) -> Option<String> {
        let heads = self.shared.heads.lock();
        let mut last = heads.last()?.iter();
        let found = last.find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }

    /// Answers nobody until released.
    pub(crate) fn hold(&self) {
        *self.shared.held.lock() = true;
    }

    pub(crate) fn release(&self) {
        *self.shared.held.lock() = false;
        self.shared.released.notify_all();
    }
}

impl Shared {
    /// Answers one request.
    fn serve(&self, stream: impl Read + Write) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        let (mut length, mut line) = (0, String::new());
        let mut head = Vec::new();
        loop {
            line.clear();
            if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                let (name, value) = (name.to_ascii_lowercase(), value.trim());
                if name == "content-length" {
                    length = value.parse().map_err(io::Error::other)?;
                }
                head.push((name, value.to_owned()));
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        let review: Value = serde_json::from_slice(&body)?;
        self.heads.lock().push(head);
        self.seen.lock().push(review.clone());
        let held = self.held.lock();
        let waited = self.released.wait_timeout_while(held, PATIENCE, |h| *h);
        drop(waited);
        let (status, body) = (self.opinion)(&review);
        let head = format!(
            "HTTP/1.1 {status} Some\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream
            .get_mut()
            .write_all([head.as_bytes(), body.as_bytes()].concat().as_slice())?;
        stream.get_mut().flush()
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.release();
        let _ = match &self.wake {
            Wake::Socket(path) => UnixStream::connect(path).map(drop),
            Wake::Port(port) => TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).map(drop),
        };
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
    }
}
