//! Bound listeners and their accept loops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use portcullis_core::Peer;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::connection::{ConnectionLimits, serve_http1, serve_http2};
use super::error::HttpError;
use super::linger::linger;
use super::peer;
use super::prelude::{self, Prefix, Protocol};
use super::tls::TlsSetup;
use super::unix::{self, BoundSocket};
use crate::config::{Bind, Door};
use crate::routes::Visitor;
use crate::server::Server;

/// How long to wait when no more connections can be accepted, out of file descriptors for example.
const PAUSE: Duration = Duration::from_millis(50);

/// What a listener does, changed by a reload while it stays bound.
#[derive(Debug)]
pub(crate) struct ListenerSetup {
    pub(crate) name: String,
    pub(crate) serves: Vec<Door>,
    pub(crate) tls: Option<TlsSetup>,
    pub(crate) limits: ConnectionLimits,
}

/// A socket that is bound but not yet served.
#[derive(Debug)]
pub(crate) enum Bound {
    Tcp(TcpListener, SocketAddr),
    Unix(BoundSocket),
}

/// Binds the address or path.
pub(crate) async fn bind(to: &Bind) -> io::Result<Bound> {
    match to {
        Bind::Tcp(address) => {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            Ok(Bound::Tcp(listener, address))
        }
        Bind::Unix(socket) => unix::bind(socket).map(Bound::Unix),
    }
}

/// What the accept loops share.
#[derive(Debug, Clone)]
pub(crate) struct Accepting {
    pub(crate) server: Arc<Server>,
    pub(crate) setup: Arc<ArcSwap<ListenerSetup>>,
    /// One permit for each connection, over all listeners.
    pub(crate) connections: Arc<Semaphore>,
    /// Turns true when no more connections are wanted.
    pub(crate) ending: watch::Receiver<bool>,
}

/// Accepts connections until told to end. Those that are open go on by themselves.
pub(crate) async fn accept_all(bound: Bound, accepting: Accepting) {
    let mut ending = accepting.ending.clone();
    let work = async {
        loop {
            let Ok(permit) = Arc::clone(&accepting.connections).acquire_owned().await else {
                return;
            };
            match &bound {
                Bound::Tcp(listener, _) => match listener.accept().await {
                    Ok((stream, address)) => {
                        let _ = stream.set_nodelay(true);
                        let peer = Peer {
                            address: Some(address),
                            ..Peer::default()
                        };
                        tokio::spawn(handle(stream, peer, accepting.clone(), permit));
                    }
                    Err(error) => refused(&accepting, &error).await,
                },
                Bound::Unix(bound) => match bound.listener.accept().await {
                    Ok((stream, _)) => {
                        let peer = peer::of_unix(&stream);
                        tokio::spawn(handle(stream, peer, accepting.clone(), permit));
                    }
                    Err(error) => refused(&accepting, &error).await,
                },
            }
        }
    };
    tokio::select! {
        () = work => {}
        _ = ending.wait_for(|ending| *ending) => {}
    }
}

async fn refused(accepting: &Accepting, error: &io::Error) {
    let listener = &accepting.setup.load().name;
    tracing::warn!(listener, %error, "could not accept a connection");
    tokio::time::sleep(PAUSE).await;
}

async fn handle<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: Peer,
    accepting: Accepting,
    permit: OwnedSemaphorePermit,
) {
    let setup = accepting.setup.load_full();
    let counted = accepting.server.metrics.connection(&setup.name);
    match &setup.tls {
        None => plain(stream, peer, &accepting, &setup).await,
        Some(tls) => encrypted(stream, peer, &accepting, &setup, tls).await,
    }
    drop((counted, permit));
}

async fn plain<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    mut stream: S,
    peer: Peer,
    accepting: &Accepting,
    setup: &ListenerSetup,
) {
    let limits = setup.limits;
    let mut ending = accepting.ending.clone();
    let looked = tokio::select! {
        looked = tokio::time::timeout(limits.head_time, prelude::look(&mut stream)) => looked,
        _ = ending.wait_for(|ending| *ending) => return,
    };
    let (protocol, prefix) = match looked {
        Ok(Ok(looked)) => looked,
        Ok(Err(_)) => return,
        Err(_) => {
            let slow = HttpError::too_slow("no request came in time").into_bytes();
            return last_word(stream, &slow).await;
        }
    };
    let visitor = visitor(peer, accepting);
    match protocol {
        Protocol::Http1 => {
            serve_http1(stream, prefix, visitor, limits, accepting.ending.clone()).await
        }
        Protocol::Http2 => {
            serve_http2(stream, prefix, visitor, limits, accepting.ending.clone()).await
        }
        Protocol::Tls => {
            let hint = "this port speaks plain HTTP, not TLS";
            let status = hyper::StatusCode::BAD_REQUEST;
            last_word(
                stream,
                &HttpError::new(status, "malformed", hint).into_bytes(),
            )
            .await;
        }
    }
}

async fn encrypted<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: Peer,
    accepting: &Accepting,
    setup: &ListenerSetup,
    tls: &TlsSetup,
) {
    let limits = setup.limits;
    let handshake = TlsAcceptor::from(Arc::clone(&tls.config)).accept(stream);
    let stream = match tokio::time::timeout(limits.head_time, handshake).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(listener = setup.name, %error, "TLS handshake failed");
            return;
        }
        Err(_) => return,
    };
    let session = stream.get_ref().1;
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    let certificate = session.peer_certificates().and_then(peer::certificate);
    let visitor = visitor(
        Peer {
            certificate,
            ..peer
        },
        accepting,
    );
    let ending = accepting.ending.clone();
    if is_http2 {
        serve_http2(stream, Prefix::default(), visitor, limits, ending).await;
    } else {
        serve_http1(stream, Prefix::default(), visitor, limits, ending).await;
    }
}

fn visitor(peer: Peer, accepting: &Accepting) -> Visitor {
    Visitor {
        server: Arc::clone(&accepting.server),
        setup: Arc::clone(&accepting.setup),
        peer,
    }
}

async fn last_word<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, answer: &[u8]) {
    let _ = stream.write_all(answer).await;
    linger(stream, Duration::from_secs(1)).await;
}
