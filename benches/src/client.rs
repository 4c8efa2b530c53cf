//! A client that asks one question again and again, over any transport.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use crate::certificate::Certificate;
use crate::failure::{Context, Failure, Result};
use crate::http1;
use crate::scenario::Scenario;
use crate::transport::{Places, Transport};

/// Requests under way at once on one HTTP/2 connection.
const STREAMS: usize = 8;
/// More than any answer to a benchmark's question.
const BUFFER: usize = 64 << 10;

/// Somebody to ask, and how to get there.
#[derive(Debug, Clone)]
pub(crate) struct Target<'a> {
    /// Where the server is.
    pub(crate) places: &'a Places,
    /// The way to it.
    pub(crate) transport: Transport,
    /// What the server shows over TLS.
    pub(crate) certificate: &'a Certificate,
    /// What to ask.
    pub(crate) scenario: Arc<Scenario>,
}

trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// Asks one question at a time.
pub(crate) struct Client {
    scenario: Arc<Scenario>,
    wire: Wire,
}

enum Wire {
    Http1 {
        stream: Box<dyn Duplex>,
        request: Arc<[u8]>,
        buffer: Box<[u8]>,
    },
    Http2 {
        sender: SendRequest<Full<Bytes>>,
        head: Box<hyper::http::request::Parts>,
        body: Bytes,
    },
}

impl Client {
    /// Asks, waits for the answer, and looks whether it is right; the answer's body is returned.
    pub(crate) async fn ask(&mut self) -> Result<Bytes> {
        self.asked(Bytes::copy_from_slice).await
    }

    /// The same for those who only want to know that the answer was right.
    pub(crate) async fn ask_only(&mut self) -> Result<()> {
        self.asked(|_| ()).await
    }

    async fn asked<T>(&mut self, keep: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let scenario = &self.scenario;
        let looked_at = |status: u16, body: &[u8]| match scenario.is_right(status, body) {
            true => Ok(keep(body)),
            false => Err(wrong(scenario, status, body)),
        };
        match &mut self.wire {
            Wire::Http1 {
                stream,
                request,
                buffer,
            } => {
                stream
                    .write_all(request)
                    .await
                    .context("sending a request")?;
                stream.flush().await.context("sending a request")?;
                let mut filled = 0;
                loop {
                    let room = buffer.get_mut(filled..).unwrap_or_default();
                    match stream.read(room).await.context("reading an answer")? {
                        0 => return Err(Failure::new("the connection ended inside an answer")),
                        count => filled += count,
                    }
                    let answer = http1::parse(buffer.get(..filled).unwrap_or_default());
                    match answer.map_err(|http1::NotHttp(what)| Failure::new(what))? {
                        None => {}
                        Some(answer) if answer.length == filled => {
                            return looked_at(answer.status, &answer.body);
                        }
                        Some(_) => return Err(Failure::new("more than one answer")),
                    }
                }
            }
            Wire::Http2 { sender, head, body } => {
                sender.ready().await.context("waiting for a stream")?;
                let request = hyper::Request::from_parts((**head).clone(), Full::new(body.clone()));
                let response = sender
                    .send_request(request)
                    .await
                    .context("sending a request")?;
                let status = response.status().as_u16();
                let body = response
                    .into_body()
                    .collect()
                    .await
                    .context("reading an answer")?;
                looked_at(status, &body.to_bytes())
            }
        }
    }
}

fn wrong(scenario: &Scenario, status: u16, body: &[u8]) -> Failure {
    let body = String::from_utf8_lossy(body);
    let short: String = body.chars().take(2_000).collect();
    Failure::new(format!(
        "{}: expected 200 with {}{}, got {status} with {short}",
        scenario.name,
        scenario.expected.holds.join(" and "),
        match scenario.expected.lacks {
            [] => String::new(),
            lacks => format!(", without {}", lacks.join(" or ")),
        },
    ))
}

/// Opens so many clients: a connection each, or a few connections with several streams.
pub(crate) async fn open(target: &Target<'_>, count: usize) -> Result<Vec<Client>> {
    let mut clients = Vec::with_capacity(count);
    let request: Arc<[u8]> = target.scenario.question.to_bytes().into();
    let client = |wire| Client {
        scenario: Arc::clone(&target.scenario),
        wire,
    };
    while clients.len() < count {
        let stream = connect(target).await?;
        if target.transport != Transport::TlsH2 {
            let (request, buffer) = (Arc::clone(&request), vec![0; BUFFER].into());
            clients.push(client(Wire::Http1 {
                stream,
                request,
                buffer,
            }));
            continue;
        }
        let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (sender, connection) = handshake.context("HTTP/2 handshake")?;
        tokio::spawn(connection);
        for _ in 0..STREAMS.min(count - clients.len()) {
            let (head, body) = http2_request(target)?;
            clients.push(client(Wire::Http2 {
                sender: sender.clone(),
                head: Box::new(head),
                body,
            }));
        }
    }
    Ok(clients)
}

fn http2_request(target: &Target<'_>) -> Result<(hyper::http::request::Parts, Bytes)> {
    let question = &target.scenario.question;
    let mut request = hyper::Request::builder()
        .method(question.method)
        .uri(format!("https://localhost{}", question.path))
        .header("user-agent", "kube-apiserver-admission")
        .header("accept", "application/json, */*");
    if !question.body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    let (head, ()) = request.body(()).context("request")?.into_parts();
    Ok((head, Bytes::from(question.body.clone())))
}

async fn connect(target: &Target<'_>) -> Result<Box<dyn Duplex>> {
    let protocol = match target.transport {
        Transport::Tcp => return Ok(Box::new(tcp(target.places.tcp).await?)),
        Transport::Unix => {
            let path = &target.places.unix;
            let stream = UnixStream::connect(path).await.context(path.display())?;
            return Ok(Box::new(stream));
        }
        Transport::Tls => "http/1.1",
        Transport::TlsH2 => "h2",
    };
    let stream = tcp(target.places.tls).await?;
    let name = ServerName::try_from("localhost").context("server name")?;
    let connector = TlsConnector::from(target.certificate.client(protocol)?);
    let stream = connector
        .connect(name, stream)
        .await
        .context("TLS handshake")?;
    // A server that says nothing speaks HTTP/1.1.
    let spoken = stream.get_ref().1.alpn_protocol().unwrap_or(b"http/1.1");
    if spoken != protocol.as_bytes() {
        return Err(Failure::new(format!(
            "the server does not speak {protocol} over TLS"
        )));
    }
    Ok(Box::new(stream))
}

async fn tcp(address: std::net::SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).await.context(address)?;
    stream.set_nodelay(true).context(address)?;
    Ok(stream)
}
