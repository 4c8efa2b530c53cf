//! Connections to the server: over TCP, TLS or a unix socket.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use super::address::{Address, Web};
use super::{ClientError, trust};

/// The most bytes the head of an answer may have.
const HEAD: usize = 64 << 10;

/// Connects to one server.
pub(super) struct Connector {
    address: Address,
    place: String,
    trust: Option<Arc<ClientConfig>>,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connector").field(&self.address).finish()
    }
}

/// A connection that questions can be sent over.
#[derive(Debug)]
pub(super) struct Sender {
    sender: http1::SendRequest<Full<Bytes>>,
    /// What moves the bytes; ends with this value.
    moving: JoinHandle<()>,
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.moving.abort();
    }
}

impl Sender {
    /// Whether it can be used again; waits for the end of what is under way.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        self.sender.send_request(request).await
    }
}

impl Connector {
    pub(super) fn new(address: Address, ca: Option<&Path>) -> Result<Self, ClientError> {
        let trust = match &address {
            Address::Web(web) if web.is_secure => Some(trust::config(ca)?),
            _ => None,
        };
        Ok(Self {
            place: address.place(),
            address,
            trust,
        })
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// The server, for people.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) async fn connect(&self) -> Result<Sender, ClientError> {
        match &self.address {
            Address::Unix(path) => {
                let stream = UnixStream::connect(path).await;
                self.speak(stream.map_err(|e| self.cannot_connect(&e))?)
                    .await
            }
            Address::Web(web) => {
                let stream = tcp(web).await.map_err(|e| self.cannot_connect(&e))?;
                let Some(trust) = &self.trust else {
                    return self.speak(stream).await;
                };
                let name = ServerName::try_from(web.host.clone()).map_err(|_| {
                    ClientError::Location("no certificate can be for this host".to_owned())
                })?;
                let stream = TlsConnector::from(Arc::clone(trust)).connect(name, stream);
                let stream = stream.await.map_err(|error| self.no_tls(&error))?;
                self.speak(stream).await
            }
        }
    }

    fn no_tls(&self, error: &io::Error) -> ClientError {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        let why = match cause {
            Some(rustls::Error::InvalidMessage(_)) => {
                "the server does not speak TLS here; try http://".to_owned()
            }
            _ => format!("TLS failed: {error}"),
        };
        ClientError::Unreachable(format!("{}: {why}", self.place))
    }

    async fn speak(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Sender, ClientError> {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(HEAD).max_headers(128);
        let (sender, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| ClientError::broken(&self.place, &error))?;
        let moving = tokio::spawn(async move {
            // Whoever waits for an answer learns of the end.
            let _ = connection.await;
        });
        Ok(Sender { sender, moving })
    }

    fn cannot_connect(&self, error: &io::Error) -> ClientError {
        let place = &self.place;
        // Who may not open the socket may not ask.
        if error.kind() == io::ErrorKind::PermissionDenied {
            return ClientError::NotSignedIn(format!("{place}: can't connect: {error}"));
        }
        ClientError::Unreachable(format!("{place}: can't connect: {error}"))
    }
}

async fn tcp(web: &Web) -> io::Result<TcpStream> {
    let found = tokio::net::lookup_host((web.host.as_str(), web.port)).await?;
    // A token may be on its way to what was taken for this machine.
    let fits = |address: &SocketAddr| !web.is_loopback() || address.ip().is_loopback();
    let addresses: Vec<_> = found.filter(fits).collect();
    let stream = TcpStream::connect(addresses.as_slice()).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
