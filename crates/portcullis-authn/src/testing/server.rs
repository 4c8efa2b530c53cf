//! A small HTTP server on this machine that counts what it is asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// What is answered.
pub(crate) enum Reply {
    /// This, with status 200.
    Body(String),
    /// This status, with headers and a body.
    Status(u16, &'static str, String),
    /// Nothing, ever.
    Hang,
}

type Handler = Box<dyn Fn(&Asked) -> Reply + Send>;

/// A server.
pub(crate) struct Server {
    pub(crate) url: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    handler: Mutex<Handler>,
    asked: Mutex<HashMap<String, Vec<Asked>>>,
}

impl Server {
    /// Starts one that answers so.
    pub(crate) async fn start(handler: impl Fn(&Asked) -> Reply + Send + 'static) -> Self {
        Self::start_with(None, handler).await
    }

    /// Starts one that speaks TLS for `localhost`, with its certificate in PEM.
    pub(crate) async fn start_tls(
        handler: impl Fn(&Asked) -> Reply + Send + 'static,
    ) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        (
            Self::start_with(Some(acceptor), handler).await,
            made.cert.pem(),
        )
    }

    async fn start_with(
        tls: Option<TlsAcceptor>,
        handler: impl Fn(&Asked) -> Reply + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = match &tls {
            Some(_) => format!("https://localhost:{}", address.port()),
            None => format!("http://{address}"),
        };
        let shared = Arc::new(Shared {
            handler: Mutex::new(Box::new(handler)),
            asked: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, serving) = (tls.clone(), Arc::clone(&serving));
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => serve(tls.accept(stream).await.ok()?, serving).await,
                        None => serve(stream, serving).await,
                    }
                });
            }
        });
        Self { url, shared, task }
    }

    /// Answers differently from now on.
    pub(crate) fn answer(&self, handler: impl Fn(&Asked) -> Reply + Send + 'static) {
        *self.shared.handler.lock().unwrap() = Box::new(handler);
    }

    /// What was asked of this path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Asked> {
        let asked = self.shared.asked.lock().unwrap();
        asked.get(path).cloned().unwrap_or_default()
    }

    /// How often this path was asked for.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.asked(path).len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, shared: Arc<Shared>) -> Option<()> {
    let mut bytes = Vec::new();
    let asked = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(asked) = whole(&bytes) {
            break asked;
        }
    };
    shared
        .asked
        .lock()
        .unwrap()
        .entry(asked.path.clone())
        .or_default()
        .push(asked.clone());
    let reply = shared.handler.lock().unwrap()(&asked);
    let (status, headers, body) = match reply {
        Reply::Body(body) => (200, "", body),
        Reply::Status(status, headers, body) => (status, headers, body),
        Reply::Hang => std::future::pending().await,
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

fn whole(bytes: &[u8]) -> Option<Asked> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().unwrap())
    });
    (body.len() >= length.unwrap_or(0)).then(|| Asked {
        path: head.split(' ').nth(1).unwrap().to_owned(),
        head: head.to_owned(),
        body: body.to_owned(),
    })
}
