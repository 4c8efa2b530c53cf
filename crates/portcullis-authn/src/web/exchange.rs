//! One exchange with a provider: a connection of its own, no redirects, and a limit on everything.

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address::Host;
use super::{Address, Trust};

/// How long a provider may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes an answer may have, and its head.
const BODY: usize = 256 << 10;
const HEAD: usize = 32 << 10;

/// A form to post.
#[derive(Debug, Default)]
pub(crate) struct Form {
    /// Its fields, encoded.
    pub(crate) body: String,
    /// Name and password, encoded.
    pub(crate) client: Option<(String, String)>,
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// Reads what is there; only a plain success is one.
pub(crate) async fn get(address: &Address, trust: &Trust) -> Result<Bytes, String> {
    let answer = ask(address, trust, None).await?;
    if answer.status == StatusCode::OK {
        return Ok(answer.body);
    }
    let status = answer.status.as_u16();
    Err(match answer.status {
        s if s.is_redirection() => {
            format!("{address}: it answered {status}; redirects are not followed")
        }
        _ => format!("{address}: it answered {status}"),
    })
}

/// Posts a form; the answer may be anything.
pub(crate) async fn post(address: &Address, trust: &Trust, form: Form) -> Result<Answer, String> {
    ask(address, trust, Some(form)).await
}

async fn ask(address: &Address, trust: &Trust, form: Option<Form>) -> Result<Answer, String> {
    match timeout(PATIENCE, exchange(address, trust, form)).await {
        Ok(result) => result.map_err(|problem| format!("{address}: {problem}")),
        Err(_) => Err(format!("{address}: no answer within 5 s")),
    }
}

async fn exchange(address: &Address, trust: &Trust, form: Option<Form>) -> Result<Answer, String> {
    let request = request(address, form)?;
    let stream = connect(address).await;
    let stream = stream.map_err(|error| format!("can't connect: {error}"))?;
    if !address.secure {
        return speak(stream, request).await;
    }
    let name = match &address.host {
        Host::Name(name) => ServerName::try_from(name.clone())
            .map_err(|_| "no certificate can be for this name".to_owned())?,
        Host::Ip(ip) => ServerName::from(*ip),
    };
    let stream = TlsConnector::from(trust.config()?)
        .connect(name, stream)
        .await;
    speak(
        stream.map_err(|error| format!("TLS failed: {error}"))?,
        request,
    )
    .await
}

fn request(address: &Address, form: Option<Form>) -> Result<Request<Full<Bytes>>, String> {
    let cannot = |_| "the address can't be asked for".to_owned();
    let mut request = Request::builder()
        .uri(&address.path)
        .header(HOST, &address.authority)
        .header(ACCEPT, "application/json")
        .header(
            USER_AGENT,
            concat!("portcullis/", env!("CARGO_PKG_VERSION")),
        );
    let Some(form) = form else {
        return request.body(Full::default()).map_err(cannot);
    };
    request = request
        .method(Method::POST)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    if let Some((name, password)) = &form.client {
        let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
        let mut basic =
            HeaderValue::try_from(basic).map_err(|_| "no header can say who we are".to_owned())?;
        basic.set_sensitive(true);
        request = request.header(AUTHORIZATION, basic);
    }
    request.body(Full::from(form.body)).map_err(cannot)
}

async fn connect(address: &Address) -> io::Result<TcpStream> {
    let stream = match &address.host {
        Host::Ip(ip) => TcpStream::connect((*ip, address.port)).await?,
        Host::Name(name) => {
            let found = tokio::net::lookup_host((name.as_str(), address.port)).await?;
            let found: Vec<SocketAddr> = found.filter(|a| address.fits(a)).collect();
            TcpStream::connect(found.as_slice()).await?
        }
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Answer, String> {
    let failed = |error: &hyper::Error| {
        let mut text = format!("the exchange failed: {error}");
        if let Some(cause) = std::error::Error::source(error) {
            // Writing to a text can't fail.
            let _ = write!(text, ": {cause}");
        }
        text
    };
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEAD).max_headers(128);
    let connected = builder.handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = connected.map_err(|e| failed(&e))?;
    // Ends with this exchange, whatever becomes of it.
    let mut connections = JoinSet::new();
    connections.spawn(connection);
    let response = sender.send_request(request).await;
    let (parts, body) = response.map_err(|e| failed(&e))?.into_parts();
    let body = Limited::new(body, BODY).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            "the answer has more than 256 KiB".to_owned()
        } else {
            format!("the exchange failed: {error}")
        }
    })?;
    Ok(Answer {
        status: parts.status,
        body: body.to_bytes(),
    })
}
