//! Bound listeners and their accept loops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::StatusCode;
use portcullis_core::Peer;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::connection::{serve_http1, serve_http2};
use super::connections::{Admission, Admitted, Connections, RoomId};
use super::error::HttpError;
use super::handler::Handler;
use super::linger::linger;
use super::peer;
use super::prelude::{self, Prefix, Protocol};
use super::setup::ListenerSetup;
use super::tls::TlsSetup;
use super::trust::{Phase, Standing, Trust};
use super::unix::{self, BoundSocket};
use portcullis_config::Bind;

/// How long to wait when no more connections can be accepted, out of file descriptors for example.
const PAUSE: Duration = Duration::from_millis(50);

/// How many clients at once get an answer that they have too many connections.
const TURNED_AWAY: usize = 64;
/// A fatal alert of TLS, `internal_error`: all that can be said before the handshake.
const TLS_ALERT: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 80];

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
pub(crate) struct Accepting<H> {
    pub(crate) handler: H,
    pub(crate) setup: Arc<ArcSwap<ListenerSetup>>,
    pub(crate) connections: Connections,
    pub(crate) room: RoomId,
    /// The current phase of the server.
    pub(crate) phase: watch::Receiver<Phase>,
}

/// Accepts connections until it is stopped. Those that are open go on by themselves.
///
/// A connection beyond the limit is held here until another one ends, and those behind it wait in
/// the backlog. Room is asked for after accepting, and each listener has some of its own, so that one
/// listener can't starve another. Addresses that have too many connections are rejected, so that
/// they don't keep others waiting.
pub(crate) async fn accept_all<H: Handler>(bound: Bound, accepting: Accepting<H>) {
    let mut phase = accepting.phase.clone();
    let turned_away = Arc::new(Semaphore::new(TURNED_AWAY));
    let work = async {
        loop {
            let accepted = match &bound {
                Bound::Tcp(listener, _) => accept_tcp(listener).await,
                Bound::Unix(bound) => accept_unix(bound).await,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let address = peer.address.map(|address| address.ip());
                    let admission = accepting.connections.admit(accepting.room, address);
                    match admission.await {
                        Admission::Admitted(admitted) => {
                            tokio::spawn(handle(stream, peer, accepting.clone(), admitted));
                        }
                        Admission::TooMany => turn_away(stream, &accepting, &turned_away),
                        Admission::Closed => return,
                    }
                }
                Err(error) => refused(&accepting, &error).await,
            }
        }
    };
    tokio::select! {
        () = work => {}
        _ = phase.wait_for(|phase| *phase == Phase::Ending) => {}
    }
}

/// Answers that an address has too many connections. Beyond a limit, connections are just closed.
fn turn_away<H: Handler>(socket: Socket, accepting: &Accepting<H>, told: &Arc<Semaphore>) {
    const TEXT: &str = "too many connections from your address";
    let error = HttpError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_connections", TEXT);
    accepting.handler.metrics().error(error.code());
    let is_tls = accepting.setup.load().tls.is_some();
    let Ok(place) = Arc::clone(told).try_acquire_owned() else {
        return;
    };
    tokio::spawn(async move {
        let answer = match is_tls {
            true => TLS_ALERT.to_vec(),
            false => error.into_bytes(),
        };
        match socket {
            Socket::Tcp(stream) => last_word(stream, &answer).await,
            Socket::Unix(stream) => last_word(stream, &answer).await,
        }
        drop(place);
    });
}

async fn accept_tcp(listener: &TcpListener) -> io::Result<(Socket, Peer)> {
    let (stream, address) = listener.accept().await?;
    let _ = stream.set_nodelay(true);
    Ok((
        Socket::Tcp(stream),
        Peer {
            address: Some(address),
            ..Peer::default()
        },
    ))
}

async fn accept_unix(bound: &BoundSocket) -> io::Result<(Socket, Peer)> {
    let (stream, _) = bound.listener.accept().await?;
    let peer = peer::of_unix(&stream);
    Ok((Socket::Unix(stream), peer))
}

/// An accepted socket of either kind.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

async fn refused<H>(accepting: &Accepting<H>, error: &io::Error) {
    let listener = &accepting.setup.load().name;
    tracing::warn!(listener, %error, "could not accept a connection");
    tokio::time::sleep(PAUSE).await;
}

/// Serves an accepted connection until it ends.
pub(crate) async fn handle<H: Handler>(
    socket: Socket,
    peer: Peer,
    accepting: Accepting<H>,
    admitted: Admitted,
) {
    let setup = accepting.setup.load_full();
    let counted = accepting.handler.metrics().connection(&setup.name);
    match (socket, &setup.tls) {
        (Socket::Tcp(stream), None) => plain(stream, peer, &accepting, &setup).await,
        (Socket::Tcp(stream), Some(tls)) => encrypted(stream, peer, &accepting, &setup, tls).await,
        (Socket::Unix(stream), _) => plain(stream, peer, &accepting, &setup).await,
    }
    drop((counted, admitted));
}

async fn plain<T: AsyncRead + AsyncWrite + Unpin + Send + 'static, H: Handler>(
    mut stream: T,
    peer: Peer,
    accepting: &Accepting<H>,
    setup: &ListenerSetup,
) {
    let limits = setup.limits;
    let mut phase = accepting.phase.clone();
    let looked = tokio::select! {
        looked = tokio::time::timeout(limits.head_time, prelude::look(&mut stream)) => looked,
        _ = phase.wait_for(|phase| *phase == Phase::Ending) => return,
    };
    let (protocol, prefix) = match looked {
        Ok(Ok(looked)) => looked,
        Ok(Err(_)) => return,
        Err(_) => {
            let slow = HttpError::too_slow("no request arrived in time").into_bytes();
            return last_word(stream, &slow).await;
        }
    };
    let standing = Standing::of(Trust::Plain);
    let client = accepting.handler.client(&accepting.setup, peer, standing);
    let phase = accepting.phase.clone();
    match protocol {
        Protocol::Http1 => serve_http1(stream, prefix, client, limits, phase).await,
        Protocol::Http2 => serve_http2(stream, prefix, client, limits, phase).await,
        Protocol::Tls => {
            let hint = HttpError::bad_request("client sent a TLS handshake to an HTTP server");
            last_word(stream, &hint.into_bytes()).await;
        }
    }
}

async fn encrypted<H: Handler>(
    stream: TcpStream,
    peer: Peer,
    accepting: &Accepting<H>,
    setup: &ListenerSetup,
    tls: &TlsSetup,
) {
    let limits = setup.limits;
    let acceptor = TlsAcceptor::from(Arc::clone(&tls.config));
    let handshake = async {
        // Every handshake begins with this byte; no request in plain HTTP does.
        let mut first = [0];
        match stream.peek(&mut first).await {
            Ok(1..) if first != [prelude::TLS_HANDSHAKE] => Err(stream),
            _ => Ok(acceptor.accept(stream).into_fallible().await),
        }
    };
    let mut phase = accepting.phase.clone();
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(limits.head_time, handshake) => shaken,
        _ = phase.wait_for(|phase| *phase == Phase::Ending) => return,
    };
    let stream = match shaken {
        Ok(Ok(Ok(stream))) => stream,
        Ok(Ok(Err((error, stream)))) => {
            tracing::debug!(listener = setup.name, %error, "TLS handshake failed");
            // The alert that says why is on its way.
            return linger(stream, Duration::from_secs(1)).await;
        }
        Ok(Err(plain)) => {
            let hint = HttpError::bad_request("client sent an HTTP request to an HTTPS server");
            return last_word(plain, &hint.into_bytes()).await;
        }
        Err(_) => return,
    };
    let session = stream.get_ref().1;
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    let chain = session.peer_certificates();
    let certificate = chain.and_then(peer::certificate);
    let standing = Standing {
        trust: tls.trust,
        expires: chain.and_then(peer::chain_expires),
    };
    let peer = Peer {
        certificate,
        ..peer
    };
    let client = accepting.handler.client(&accepting.setup, peer, standing);
    let phase = accepting.phase.clone();
    if is_http2 {
        serve_http2(stream, Prefix::default(), client, limits, phase).await;
    } else {
        serve_http1(stream, Prefix::default(), client, limits, phase).await;
    }
}

async fn last_word<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, answer: &[u8]) {
    let _ = stream.write_all(answer).await;
    linger(stream, Duration::from_secs(1)).await;
}
