//! The ceiling: the same kind of server, which reads a request and answers the same to all.
//!
//! What Portcullis adds to HTTP is the difference. It has the runtime, the allocator, the HTTP and
//! TLS settings of `portcullis-server`'s `http::connection` and `http::tls`, and answers with the
//! bytes of an `AlwaysAdmit` answer; it has no limits on time, no routes, no metrics. At [`READ`] it
//! also reads the review as any webhook must, and does nothing with it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;

use crate::certificate::Certificate;
use crate::failure::{Context, Result};
use crate::fixture;

/// As `http::connection` has it for the default limits.
const MAX_BUFFER: usize = (64 << 10) * 2 + (64 << 10);

const STREAMS: u32 = 128;

/// The path at which the review is read too.
pub(crate) const READ: &str = "/read";

/// Where the ceiling listens.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Address for plain TCP.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) tcp: Option<SocketAddr>,
    /// Path of a unix socket.
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Address for TLS.
    #[arg(long, value_name = "ADDRESS", requires_all = ["certificate", "key"])]
    pub(crate) tls: Option<SocketAddr>,
    /// The certificate for TLS.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of the certificate.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
}

/// Serves until it is killed.
pub(crate) fn run(options: Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime
        .context("no threads to run on")?
        .block_on(serve(options))
}

async fn serve(options: Options) -> Result<()> {
    if let Some(path) = options.unix {
        let listener = UnixListener::bind(&path).context(path.display())?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(speak_http1(stream));
            }
        });
    }
    if let (Some(address), Some(certificate), Some(key)) =
        (options.tls, options.certificate, options.key)
    {
        let acceptor = TlsAcceptor::from(Certificate { certificate, key }.server()?);
        let listener = TcpListener::bind(address).await.context(address)?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(speak_tls(acceptor.clone(), stream));
            }
        });
    }
    if let Some(address) = options.tcp {
        let listener = TcpListener::bind(address).await.context(address)?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(speak_http1(stream));
            }
        });
    }
    std::future::pending().await
}

async fn speak_tls(acceptor: TlsAcceptor, stream: tokio::net::TcpStream) {
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        let _ = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .keep_alive_interval(Duration::from_secs(60))
            .keep_alive_timeout(Duration::from_secs(10))
            .serve_connection(TokioIo::new(stream), service_fn(answer))
            .await;
    } else {
        speak_http1(stream).await;
    }
}

async fn speak_http1<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) {
    let _ = http1::Builder::new()
        .half_close(true)
        .max_buf_size(MAX_BUFFER)
        .header_read_timeout(None)
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await;
}

async fn answer(
    request: Request<Incoming>,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let is_read = request.uri().path() == READ;
    // A body that breaks off ends the connection by itself.
    let body = request.into_body().collect().await.map(Collected::to_bytes);
    let answer = match body {
        Ok(body) if is_read && !is_review(&body) => "not a review",
        _ => fixture::ADMITTED,
    };
    let mut response = Response::new(Full::new(Bytes::from_static(answer.as_bytes())));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

/// Reads what every webhook must read, as cheaply as `serde_json` can: no check for keys that come
/// twice, nothing copied.
fn is_review(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Review<'a> {
        #[serde(borrow)]
        request: Asked<'a>,
    }
    #[derive(Deserialize)]
    struct Asked<'a> {
        uid: &'a str,
        operation: &'a str,
        #[serde(borrow)]
        object: &'a RawValue,
    }
    serde_json::from_slice::<Review<'_>>(body).is_ok_and(|Review { request }| {
        let Asked {
            uid,
            operation,
            object,
        } = request;
        !uid.is_empty() && !operation.is_empty() && object.get().starts_with('{')
    })
}
