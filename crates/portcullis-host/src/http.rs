//! One HTTP exchange: a connection of its own, no redirects, and a limit on everything.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout_at;
use tokio_rustls::TlsConnector;

use crate::target::{Host, Target, Web};
use crate::text::excerpt;

/// The most bytes the head of an answer may have, and the most that are read at once: a head that
/// came with the last read may have twice as many.
const HEAD: usize = 32 << 10;

/// What is asked.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) target: Target,
    /// Whom to believe; not needed where there is no TLS.
    pub(crate) trust: Option<Arc<ClientConfig>>,
    /// JSON to post; without it, something is only read.
    pub(crate) body: Option<Bytes>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The most bytes the answer may have.
    pub(crate) limit: usize,
    pub(crate) deadline: Instant,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// A header that proves who we are.
pub(crate) fn bearer(token: &str) -> Result<(HeaderName, HeaderValue), String> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| "the token for Google has characters that no token has".to_owned())?;
    value.set_sensitive(true);
    Ok((AUTHORIZATION, value))
}

/// Asks, and waits for the whole answer.
pub(crate) async fn ask(question: Question) -> Result<Answer, String> {
    let place = question.target.to_string();
    let deadline = question.deadline;
    match timeout_at(deadline.into(), exchange(question)).await {
        Ok(result) => result.map_err(|problem| {
            // It may repeat what the other end said of itself, such as the names of a certificate.
            format!("{place}: {}", excerpt(problem.as_bytes(), 400))
        }),
        Err(_) => Err(format!("{place}: no answer before the deadline")),
    }
}

async fn exchange(question: Question) -> Result<Answer, String> {
    match &question.target {
        Target::Unix(path) => {
            let stream = UnixStream::connect(path).await;
            let stream = stream.map_err(|e| cannot_connect(&e))?;
            speak(stream, "unix", "/", &question).await
        }
        Target::Web(web) => {
            let stream = connect(web).await.map_err(|e| cannot_connect(&e))?;
            let (authority, path) = (web.authority(), web.path_and_query());
            if !web.secure {
                return speak(stream, &authority, &path, &question).await;
            }
            let trust = question.trust.clone();
            let trust = trust.ok_or_else(|| "TLS is not set up".to_owned())?;
            let name = match &web.host {
                Host::Name(name) => ServerName::try_from(name.clone())
                    .map_err(|_| "no certificate can be for this name".to_owned())?,
                Host::Ip(ip) => ServerName::from(*ip),
            };
            let stream = TlsConnector::from(trust).connect(name, stream).await;
            let stream = stream.map_err(|e| format!("TLS failed: {e}"))?;
            speak(stream, &authority, &path, &question).await
        }
    }
}

fn cannot_connect(error: &io::Error) -> String {
    format!("can't connect: {error}")
}

async fn connect(web: &Web) -> io::Result<TcpStream> {
    let stream = match &web.host {
        Host::Ip(ip) => TcpStream::connect((*ip, web.port)).await?,
        Host::Name(name) => {
            let found = tokio::net::lookup_host((name.as_str(), web.port)).await?;
            let here = web.host.is_loopback();
            let fits = |address: &SocketAddr| !here || IpAddr::is_loopback(&address.ip());
            let addresses: Vec<_> = found.filter(fits).collect();
            TcpStream::connect(addresses.as_slice()).await?
        }
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    authority: &str,
    path: &str,
    question: &Question,
) -> Result<Answer, String> {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEAD).max_headers(128);
    let (mut sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|e| http_problem(&e))?;
    // Ends with this exchange, whatever becomes of it.
    let mut connections = JoinSet::new();
    connections.spawn(connection);

    let method = if question.body.is_some() {
        Method::POST
    } else {
        Method::GET
    };
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, authority)
        .header(ACCEPT, "application/json")
        .header(
            USER_AGENT,
            concat!("portcullis/", env!("CARGO_PKG_VERSION")),
        );
    if question.body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    for (name, value) in &question.headers {
        request = request.header(name, value);
    }
    let body = question.body.clone().unwrap_or_default();
    let request = request
        .body(Full::new(body))
        .map_err(|_| "the address can't be asked for".to_owned())?;

    let response = sender.send_request(request).await;
    let response = response.map_err(|e| http_problem(&e))?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, question.limit).collect().await;
    let body = body.map_err(|error| {
        if error.is::<LengthLimitError>() {
            format!("the answer has more than {} bytes", question.limit)
        } else {
            http_problem(error.as_ref())
        }
    })?;
    Ok(Answer {
        status: parts.status,
        body: body.to_bytes(),
    })
}

/// An error with what caused it.
fn http_problem(error: &(dyn Error + 'static)) -> String {
    let mut text = format!("the exchange failed: {error}");
    if let Some(cause) = error.source() {
        text.push_str(": ");
        text.push_str(&cause.to_string());
    }
    text
}
