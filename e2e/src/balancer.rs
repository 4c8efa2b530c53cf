//! What a Service is to a client: one address, and connections that go to one endpoint after the other.
//!
//! It passes on bytes, as kube-proxy does. An endpoint that is taken away keeps the connections it has.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A balancer on loopback, as long as the process lives.
#[derive(Debug)]
pub struct Balancer {
    port: u16,
    endpoints: Arc<Mutex<Endpoints>>,
}

#[derive(Debug, Default)]
struct Endpoints {
    ports: Vec<u16>,
    turn: usize,
}

impl Endpoints {
    fn next(&mut self) -> Option<u16> {
        self.turn = self.turn.wrapping_add(1);
        let place = self.turn.checked_rem(self.ports.len())?;
        self.ports.get(place).copied()
    }
}

impl Balancer {
    /// Listens on a free port. Without endpoints it closes every connection.
    ///
    /// # Panics
    /// When it cannot listen.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let endpoints = Arc::new(Mutex::new(Endpoints::default()));
        let shared = Arc::clone(&endpoints);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let next = shared.lock().unwrap_or_else(PoisonError::into_inner).next();
                if let Some(port) = next {
                    // A connection that can't be made is closed, which is what its client is to see.
                    let _ = connect(client, port);
                }
            }
        });
        Self { port, endpoints }
    }

    /// The address of a path behind it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.port)
    }

    /// New connections go to these ports from now on.
    pub fn set_endpoints(&self, ports: Vec<u16>) {
        let mut endpoints = self
            .endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        endpoints.ports = ports;
    }
}

fn connect(client: TcpStream, port: u16) -> io::Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || pass_on(from, to));
    thread::spawn(move || pass_on(server, client));
    Ok(())
}

/// Passes on what comes, and the end of it.
fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let Some(bytes) = buffer.get(..length) else {
            break;
        };
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    // Either may be gone already.
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
