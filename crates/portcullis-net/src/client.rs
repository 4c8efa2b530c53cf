//! One request and its response over HTTP/1.1 or HTTP/2: no redirects, and a limit on everything.

mod connection;
mod exchange;
mod request;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

pub use self::connection::{Connection, Response};
pub use self::exchange::{HttpResponse, Limits, Pieces, read};
pub use self::request::Request;
use crate::reach::Reach;
use crate::{Address, Error, Host, Protocol, Trust, TrustError, Web};

/// A client of one server. It keeps no connections: each exchange has its own.
#[derive(Debug, Clone)]
pub struct Client {
    address: Arc<Address>,
    protocol: Protocol,
    tls: Option<Arc<ClientConfig>>,
    reach: Reach,
}

impl Client {
    /// A client of this server; connects to nothing yet. Trust matters for `https` alone.
    ///
    /// # Errors
    ///
    /// When TLS can't be set up.
    pub fn new(address: Address, protocol: Protocol, trust: &Trust) -> Result<Self, TrustError> {
        let tls = match &address {
            Address::Web(web) if web.secure => Some(trust.config(protocol)?),
            _ => None,
        };
        Ok(Self {
            address: Arc::new(address),
            protocol,
            tls,
            reach: Reach::Anywhere,
        })
    }

    /// The same, but it connects to the public internet alone: not to this machine, a socket, or a
    /// private network, whatever a name resolves to.
    #[must_use]
    pub fn public_only(self) -> Self {
        Self {
            reach: Reach::Public,
            ..self
        }
    }

    /// The same, but it connects to private networks and this machine at most: not to a socket, a link-local address
    /// (metadata services of clouds are there) or a multicast one, whatever a name resolves to.
    #[must_use]
    pub fn without_metadata(self) -> Self {
        Self {
            reach: Reach::Private,
            ..self
        }
    }

    /// Where the server is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request over a connection of its own, and waits for the whole answer.
    ///
    /// # Errors
    ///
    /// Why there is no answer within the limits. An error status is an answer.
    pub async fn exchange(&self, request: &Request, limits: Limits) -> Result<HttpResponse, Error> {
        let exchange = async {
            let mut connection = self.connect().await?;
            let response = connection.send(request).await?;
            read(response, limits.body).await
        };
        limits.deadline.bound(exchange).await?
    }

    /// Connects, for several requests or for an answer in pieces. There is no deadline: see
    /// [`Deadline::bound`](crate::Deadline::bound).
    ///
    /// # Errors
    ///
    /// Why the connection failed.
    pub async fn connect(&self) -> Result<Connection, Error> {
        let open = |stream| Connection::open(stream, self.protocol, Arc::clone(&self.address));
        match &*self.address {
            Address::Unix(_) if self.reach != Reach::Anywhere => Err(self.refusal()),
            Address::Unix(path) => {
                let stream = UnixStream::connect(path).await.map_err(Error::Connect)?;
                open(Box::new(stream)).await
            }
            Address::Web(web) => {
                let stream = self.tcp(web).await?;
                let Some(tls) = &self.tls else {
                    return open(Box::new(stream)).await;
                };
                let name = match &web.host {
                    Host::Name(name) => {
                        ServerName::try_from(name.clone()).map_err(|_| Error::ServerName)?
                    }
                    Host::Ip(ip) => ServerName::from(*ip),
                };
                let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream);
                open(Box::new(stream.await.map_err(Error::Tls)?)).await
            }
        }
    }

    /// Looks the server up, and says whether every address it has may be connected to. Whoever connects later is
    /// checked again.
    ///
    /// # Errors
    ///
    /// When the name can't be resolved, or some address may not be connected to.
    pub async fn check_reach(&self) -> Result<(), Error> {
        match &*self.address {
            Address::Unix(_) if self.reach == Reach::Anywhere => Ok(()),
            Address::Unix(_) => Err(self.refusal()),
            Address::Web(web) => {
                let found = look_up(web).await?;
                let allows = |address: &SocketAddr| self.reach.allows(&web.host, address.ip());
                match found.iter().all(allows) {
                    true => Ok(()),
                    false => Err(self.refusal()),
                }
            }
        }
    }

    fn refusal(&self) -> Error {
        match self.reach {
            Reach::Public => Error::NotPublic,
            Reach::Private => Error::LinkLocal,
            Reach::Anywhere => Error::Connect(io::Error::other(
                "localhost does not resolve to a loopback address",
            )),
        }
    }

    async fn tcp(&self, web: &Web) -> Result<TcpStream, Error> {
        let found = look_up(web).await?;
        let allows = |address: &SocketAddr| self.reach.allows(&web.host, address.ip());
        let allowed: Vec<SocketAddr> = found.iter().copied().filter(allows).collect();
        if allowed.is_empty() && !found.is_empty() {
            return Err(self.refusal());
        }
        let connected = TcpStream::connect(allowed.as_slice()).await;
        let stream = connected.map_err(Error::Connect)?;
        stream.set_nodelay(true).map_err(Error::Connect)?;
        Ok(stream)
    }
}

async fn look_up(web: &Web) -> Result<Vec<SocketAddr>, Error> {
    Ok(match &web.host {
        Host::Ip(ip) => vec![SocketAddr::new(*ip, web.port)],
        Host::Name(name) => {
            let found = tokio::net::lookup_host((name.as_str(), web.port)).await;
            found.map_err(Error::Connect)?.collect()
        }
    })
}
