//! A tiny blocking client for HTTP/1.1, over TCP, unix sockets and TLS, that can also misbehave.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde_json::Value;

use crate::{Answer, PATIENCE};

/// What a connection goes over.
trait Wire: Read + Write + Send {
    fn patience(&self, time: Duration) -> io::Result<()>;

    /// Says that nothing more will come.
    fn finish(&self) -> io::Result<()>;
}

impl Wire for TcpStream {
    fn patience(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }

    fn finish(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Wire for UnixStream {
    fn patience(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }

    fn finish(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Wire for StreamOwned<ClientConnection, TcpStream> {
    fn patience(&self, time: Duration) -> io::Result<()> {
        self.sock.patience(time)
    }

    fn finish(&self) -> io::Result<()> {
        self.sock.finish()
    }
}

/// One connection, good for any number of requests.
pub struct Connection(BufReader<Box<dyn Wire>>);

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    /// Over plain TCP, on loopback.
    ///
    /// # Errors
    ///
    /// When nothing listens.
    pub fn tcp(port: u16) -> io::Result<Self> {
        Ok(Self::over(connect(port)?))
    }

    /// Over plain TCP, to another address of this machine.
    ///
    /// # Errors
    ///
    /// When nothing listens.
    pub fn tcp_at(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::over(connect_to(address)?))
    }

    /// Over a unix socket.
    ///
    /// # Errors
    ///
    /// When nothing listens.
    pub fn unix(path: &Path) -> io::Result<Self> {
        Self::pair(UnixStream::connect(path)?)
    }

    /// Over a stream that is connected already, one of a pair for example.
    ///
    /// # Errors
    ///
    /// When the time limit of the stream can't be set.
    pub fn pair(stream: UnixStream) -> io::Result<Self> {
        stream.patience(PATIENCE)?;
        Ok(Self::over(stream))
    }

    /// Connects and shakes hands.
    ///
    /// # Errors
    ///
    /// When nothing listens, or one side does not trust the other.
    pub fn tls(port: u16, config: &Arc<ClientConfig>) -> io::Result<Self> {
        Ok(Self::over(shake_hands(port, config)?))
    }

    /// Connects and shakes hands, and looks who it is.
    ///
    /// # Errors
    ///
    /// As [`Connection::tls`].
    pub fn certificate_at(port: u16, config: &Arc<ClientConfig>) -> io::Result<Vec<u8>> {
        let stream = shake_hands(port, config)?;
        let shown = stream
            .conn
            .peer_certificates()
            .and_then(|chain| chain.first());
        Ok(shown.ok_or(io::ErrorKind::NotFound)?.to_vec())
    }

    fn over(stream: impl Wire + 'static) -> Self {
        Self(BufReader::new(Box::new(stream)))
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// When the server has closed.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)?;
        self.0.get_mut().flush()
    }

    /// The next answer; an error when the server closes without one.
    ///
    /// # Errors
    ///
    /// When the server closes without one, or it is not HTTP.
    pub fn receive(&mut self) -> io::Result<Answer> {
        Answer::read(&mut self.0, true)
    }

    /// The next answer to HEAD, or to anything else.
    ///
    /// # Errors
    ///
    /// As [`Connection::receive`].
    pub fn answer(&mut self, has_body: bool) -> io::Result<Answer> {
        Answer::read(&mut self.0, has_body)
    }

    /// Sends a whole request and waits for its answer.
    ///
    /// # Errors
    ///
    /// As [`Connection::receive`].
    pub fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> io::Result<Answer> {
        self.send(&request(method, path, &[], body))?;
        Answer::read(&mut self.0, method != "HEAD")
    }

    /// Posts a review.
    ///
    /// # Errors
    ///
    /// As [`Connection::receive`].
    pub fn post(&mut self, path: &str, body: &Value) -> io::Result<Answer> {
        self.ask("POST", path, body.to_string().as_bytes())
    }

    /// The next line with its end; empty when the server has closed.
    ///
    /// # Errors
    ///
    /// When nothing comes in time, or it is not text.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(line)
    }

    /// What still came until the server closed; nothing if it does not close.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => None,
            _ => Some(rest),
        }
    }

    /// How long to wait for the server; otherwise [`PATIENCE`].
    pub fn patience(&self, time: Duration) {
        self.0.get_ref().patience(time).unwrap();
    }
}

fn connect(port: u16) -> io::Result<TcpStream> {
    connect_to((Ipv4Addr::LOCALHOST, port).into())
}

fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.patience(PATIENCE)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn shake_hands(
    port: u16,
    config: &Arc<ClientConfig>,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(session, connect(port)?);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}

/// The bytes of a request. Type and length are added unless the headers have them.
#[must_use]
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    let has = |wanted: &str| {
        headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    if method == "POST" && !has("content-type") {
        head.push_str("Content-Type: application/json\r\n");
    }
    if method == "POST" && !has("content-length") && !has("transfer-encoding") {
        write!(head, "Content-Length: {}\r\n", body.len()).unwrap();
    }
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

/// Sends bytes as they are, and returns the answer if there is one.
pub(crate) fn exchange(
    mut connection: Connection,
    bytes: &[u8],
    and_close: bool,
) -> Option<Answer> {
    let sent = connection.send(bytes);
    if and_close && sent.is_ok() {
        let _ = connection.0.get_ref().finish();
    }
    connection.receive().ok()
}
