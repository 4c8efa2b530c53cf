//! A server on this machine that answers as a test says, over plain TCP, TLS or a unix socket, and records
//! its requests.
//!
//! It has threads of its own, so that blocking and asynchronous clients can ask it, and ends with its value.

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::{Identity, PATIENCE, Reply, Request};

type Handler = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// A server, gone with this value.
#[derive(Debug)]
pub struct Server {
    place: Place,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Place {
    Port { scheme: &'static str, port: u16 },
    Socket(PathBuf),
}

struct Shared {
    handler: Mutex<Handler>,
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    /// Whether answers are held back.
    held: Mutex<bool>,
    /// Told when answers are released, and at the end.
    changed: Condvar,
    is_over: AtomicBool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// What a connection goes over.
trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

type Accepted = io::Result<Box<dyn Wire>>;

impl Server {
    /// One over plain HTTP on loopback.
    pub fn http(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let (listener, port) = bound();
        let scheme = "http";
        let accept = move || Ok(Box::new(patient(listener.accept()?.0)?) as Box<dyn Wire>);
        Self::start(Place::Port { scheme, port }, accept, handler)
    }

    /// One over HTTPS on loopback, which shows this certificate.
    pub fn https(
        identity: &Identity,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::tls(identity.server_config(), handler)
    }

    /// The same, but clients must show a certificate of this authority.
    pub fn mutual(
        identity: &Identity,
        authority: &Identity,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::tls(identity.mutual_config(authority), handler)
    }

    fn tls(
        config: Arc<ServerConfig>,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let (listener, port) = bound();
        let scheme = "https";
        let accept = move || {
            let stream = patient(listener.accept()?.0)?;
            let session = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            Ok(Box::new(StreamOwned::new(session, stream)) as Box<dyn Wire>)
        };
        Self::start(Place::Port { scheme, port }, accept, handler)
    }

    /// One on a unix socket.
    pub fn unix(path: &Path, handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let accept = move || {
            let (stream, _) = listener.accept()?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok(Box::new(stream) as Box<dyn Wire>)
        };
        Self::start(Place::Socket(path.to_owned()), accept, handler)
    }

    fn start(
        place: Place,
        accept: impl Fn() -> Accepted + Send + 'static,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            handler: Mutex::new(Arc::new(handler)),
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            held: Mutex::default(),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
        });
        let all = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || {
            while let Ok(stream) = accept() {
                if all.is_over.load(Ordering::Relaxed) {
                    return;
                }
                all.connections.fetch_add(1, Ordering::Relaxed);
                let one = Arc::clone(&all);
                // A client that goes away is not a failure.
                std::thread::spawn(move || one.serve(stream));
            }
        });
        Self {
            place,
            shared,
            accepting: Some(accepting),
        }
    }

    /// Its address: `http://127.0.0.1:PORT`, `https://...` or `unix://PATH`.
    #[must_use]
    pub fn url(&self) -> String {
        match &self.place {
            Place::Port { scheme, .. } => format!("{scheme}://{}", self.place()),
            Place::Socket(_) => format!("unix://{}", self.place()),
        }
    }

    /// Host and port, or the path of the socket.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.place {
            Place::Port { port, .. } => format!("127.0.0.1:{port}"),
            Place::Socket(path) => path.display().to_string(),
        }
    }

    /// Its port.
    ///
    /// # Panics
    ///
    /// When it is on a unix socket.
    #[must_use]
    #[track_caller]
    pub fn port(&self) -> u16 {
        match &self.place {
            Place::Port { port, .. } => *port,
            Place::Socket(path) => panic!("{} has no port", path.display()),
        }
    }

    /// Answers differently from now on.
    pub fn answer(&self, handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) {
        *lock(&self.shared.handler) = Arc::new(handler);
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// What was asked of this path.
    #[must_use]
    pub fn asked(&self, target: &str) -> Vec<Request> {
        let mut all = self.requests();
        all.retain(|request| request.target() == target);
        all
    }

    /// How often this path was asked for.
    #[must_use]
    pub fn count(&self, target: &str) -> usize {
        self.asked(target).len()
    }

    /// How many connections there were.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Delays all answers until released.
    pub fn hold(&self) {
        *lock(&self.shared.held) = true;
    }

    /// Answers again.
    pub fn release(&self) {
        *lock(&self.shared.held) = false;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    /// Answers one request after the other.
    fn serve(&self, stream: Box<dyn Wire>) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(request) = Request::read(&mut stream)? {
            lock(&self.requests).push(request.clone());
            self.wait_while(|held| held);
            let handler = Arc::clone(&lock(&self.handler));
            let out = stream.get_mut();
            let (status, headers, body) = match handler(&request) {
                Reply::Body(body) => (200, "", body),
                Reply::Status(status, headers, body) => (status, headers, body),
                Reply::Raw(bytes) => {
                    out.write_all(&bytes)?;
                    return out.flush();
                }
                Reply::Stream(write) => {
                    write(out)?;
                    return out.flush();
                }
                Reply::Hang => {
                    self.wait_while(|_| true);
                    return Ok(());
                }
            };
            let length = body.len();
            let answer =
                format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
            out.write_all(answer.as_bytes())?;
            out.flush()?;
            let closes = headers.to_ascii_lowercase().contains("connection: close");
            if closes || request.header("connection") == Some("close") {
                break;
            }
        }
        Ok(())
    }

    /// Waits as long as answers are held back so, and the server is there.
    fn wait_while(&self, goes_on: impl Fn(bool) -> bool) {
        let held = lock(&self.held);
        let is_over = || self.is_over.load(Ordering::Relaxed);
        let waited = self
            .changed
            .wait_while(held, |held| goes_on(*held) && !is_over());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.release();
        // Wakes the thread that accepts.
        let _ = match &self.place {
            Place::Port { port, .. } => TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).map(drop),
            Place::Socket(path) => UnixStream::connect(path).map(drop),
        };
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
    }
}

fn bound() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn patient(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, Folder, Pki, until};

    fn echo(request: &Request) -> Reply {
        match request.target() {
            "/hang" => Reply::Hang,
            "/raw" => Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nr".to_vec()),
            "/moved" => Reply::Status(302, "Location: /\r\n", String::new()),
            "/stream" => Reply::Stream(Arc::new(|out| {
                out.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
                out.write_all(b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
            })),
            _ => Reply::Body(request.text()),
        }
    }

    #[test]
    fn it_is_asked_over_everything_that_a_client_speaks() {
        let (folder, pki) = (Folder::new(), Pki::new());
        let socket = folder.path("s");
        let servers = [
            Server::http(echo),
            Server::https(&pki.server, echo),
            Server::unix(&socket, echo),
        ];
        let connections = [
            Connection::tcp(servers[0].port()),
            Connection::tls(servers[1].port(), &pki.client(None)),
            Connection::unix(&socket),
        ];
        for (server, connection) in servers.iter().zip(connections) {
            let mut connection = connection.unwrap();
            // Two requests on one connection.
            assert_eq!(
                connection.ask("POST", "/a?b", b"text").unwrap().text(),
                "text"
            );
            let moved = connection.ask("GET", "/moved", b"").unwrap();
            assert_eq!((moved.status, moved.header("location")), (302, Some("/")));
            assert_eq!(connection.ask("GET", "/stream", b"").unwrap().text(), "abc");
            let first = &server.asked("/a?b")[0];
            assert_eq!((first.method(), first.text().as_str()), ("POST", "text"));
            assert_eq!(first.header("content-LENGTH"), Some("4"));
            assert_eq!((server.connections(), server.requests().len()), (1, 3));
        }
    }

    #[test]
    fn answers_are_held_back_and_changed() {
        let server = Server::http(echo);
        let port = server.port();
        server.hold();
        let asking = std::thread::spawn(move || {
            let mut connection = Connection::tcp(port).unwrap();
            connection.ask("GET", "/x", b"").unwrap().text()
        });
        until("a request", || server.count("/x") == 1);
        server.answer(|_| Reply::Body("new".to_owned()));
        server.release();
        assert_eq!(asking.join().unwrap(), "new");
    }

    #[test]
    fn who_hangs_is_let_go_at_the_end() {
        let server = Server::http(echo);
        let port = server.port();
        let mut connection = Connection::tcp(port).unwrap();
        connection.send(b"GET /hang HTTP/1.1\r\n\r\n").unwrap();
        until("a request", || server.count("/hang") == 1);
        drop(server);
        assert_eq!(connection.rest(), Some(Vec::new()));
        assert!(Connection::tcp(port).is_err());
    }
}
