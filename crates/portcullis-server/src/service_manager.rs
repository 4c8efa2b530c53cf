//! Tells the service manager how the server is, by the protocol of `sd_notify`: lines in a datagram to the socket that
//! `NOTIFY_SOCKET` names. Without that variable nothing is done.
//!
//! `READY=1` means that every listener is bound, not that `/readyz` answers 200: what a graph or a certificate waits for may itself be
//! started after this server, by the same service manager. That is told by `STATUS`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use portcullis_core::text::{is_odd, shortened};

use crate::readiness;
use crate::server::Server;

/// The longest status.
const LONGEST: usize = 256;
/// How often readiness is looked at, to tell about it.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The shortest time between two signs of life.
const SHORTEST: Duration = Duration::from_millis(10);

/// A service manager that listens, if there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServiceManager {
    to: Option<Arc<Destination>>,
    /// How often it wants a sign of life.
    watchdog: Option<Duration>,
}

#[derive(Debug)]
struct Destination {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl ServiceManager {
    /// The one that the environment names.
    pub(crate) fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let Some(named) = variable("NOTIFY_SOCKET").filter(|named| !named.is_empty()) else {
            return Self::default();
        };
        let destination = address(&named).and_then(|address| {
            let socket = UnixDatagram::unbound()?;
            // A service manager that doesn't read must not hold up the server.
            socket.set_nonblocking(true)?;
            Ok(Destination { socket, address })
        });
        let to = match destination {
            Ok(destination) => Some(Arc::new(destination)),
            Err(error) => {
                tracing::warn!("cannot notify the service manager at NOTIFY_SOCKET: {error}");
                None
            }
        };
        Self {
            to,
            watchdog: watchdog(variable),
        }
    }

    /// Requests are accepted.
    pub(crate) fn ready(&self, status: &str) {
        self.send(&["READY=1"], Some(status));
    }

    /// A reload begins. The time tells the service manager that this is not an earlier one.
    pub(crate) fn reloading(&self) {
        if self.to.is_none() {
            return;
        }
        // The one clock here that is compared with that of another process.
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
        let now = now.map(Duration::from).unwrap_or_default();
        let since = format!("MONOTONIC_USEC={}", now.as_micros());
        self.send(
            &["RELOADING=1", &since],
            Some("reloading the configuration"),
        );
    }

    /// The server is about to end.
    pub(crate) fn stopping(&self) {
        self.send(&["STOPPING=1"], Some("finishing requests"));
    }

    /// Signs of life, for as long as this is polled: they come from where requests are answered.
    pub(crate) async fn keep_alive(self) {
        let Some(every) = self.watchdog.filter(|_| self.to.is_some()) else {
            return;
        };
        let mut times = tokio::time::interval((every / 2).max(SHORTEST));
        loop {
            times.tick().await;
            self.send(&["WATCHDOG=1"], None);
        }
    }

    /// Tells whether the server is ready whenever that changes, for as long as this is polled.
    pub(crate) async fn follow(self, server: Arc<Server>) {
        if self.to.is_none() {
            return;
        }
        let mut before = None;
        let mut times = tokio::time::interval(LOOK_EVERY);
        loop {
            times.tick().await;
            let now = readiness::failures(&server);
            if before.as_ref() != Some(&now) {
                let status = match now.is_empty() {
                    true => "ready".to_owned(),
                    false => format!("not ready: {now}"),
                };
                self.send(&[], Some(&status));
                before = Some(now);
            }
        }
    }

    fn send(&self, lines: &[&str], status: Option<&str>) {
        let Some(to) = &self.to else {
            return;
        };
        let mut message = String::new();
        for line in lines {
            let _ = writeln!(message, "{line}");
        }
        if let Some(status) = status {
            // One line, whatever is in it.
            let status = shortened(status, LONGEST).replace(is_odd, " ");
            let _ = writeln!(message, "STATUS={status}");
        }
        let sent = to.socket.send_to_addr(message.as_bytes(), &to.address);
        if let Err(error) = sent {
            tracing::debug!("the service manager was not notified: {error}");
        }
    }
}

/// A path, or `@` and the name of an abstract socket.
fn address(named: &str) -> io::Result<SocketAddr> {
    match named.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(OsStr::new(name).as_bytes()),
        None if named.starts_with('/') => SocketAddr::from_pathname(named),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("unsupported address `{named}`"),
        )),
    }
}

/// How often a sign of life is wanted of this process.
fn watchdog(variable: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let of_another =
        variable("WATCHDOG_PID").is_some_and(|pid| pid.parse() != Ok(std::process::id()));
    let every: u64 = variable("WATCHDOG_USEC")?.parse().ok()?;
    (every > 0 && !of_another).then(|| Duration::from_micros(every))
}

#[cfg(test)]
mod tests {
    use portcullis_testing::Folder;

    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 4096];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn what_is_told_is_lines_to_a_path_or_an_abstract_name() {
        let folder = Folder::new();
        let path = folder.path("notify").display().to_string();
        let name = format!("portcullis-test-{}", std::process::id());
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        for (socket, named) in [
            (UnixDatagram::bind(&path).unwrap(), path.clone()),
            (
                UnixDatagram::bind_addr(&abstract_name).unwrap(),
                format!("@{name}"),
            ),
        ] {
            let manager =
                ServiceManager::new(|key| (key == "NOTIFY_SOCKET").then(|| named.clone()));
            manager.ready("ready\nREADY=0");
            assert_eq!(received(&socket), "READY=1\nSTATUS=ready READY=0\n");
            manager.reloading();
            let told = received(&socket);
            let lines: Vec<_> = told.lines().collect();
            assert_eq!(lines[0], "RELOADING=1");
            let since: u128 = lines[1]
                .strip_prefix("MONOTONIC_USEC=")
                .unwrap()
                .parse()
                .unwrap();
            assert!(since > 0);
            manager.stopping();
            assert_eq!(received(&socket), "STOPPING=1\nSTATUS=finishing requests\n");
        }
    }

    #[test]
    fn without_a_service_manager_nothing_is_done() {
        for named in [None, Some(""), Some("vsock:2:1234"), Some("relative")] {
            let manager = ServiceManager::new(|_| named.map(str::to_owned));
            assert!(manager.to.is_none(), "{named:?}");
            manager.ready("ready");
            manager.reloading();
        }
        // One that is gone is no reason to fail.
        let gone = Folder::new().path("gone").display().to_string();
        let manager = ServiceManager::new(|key| (key == "NOTIFY_SOCKET").then(|| gone.clone()));
        manager.ready("ready");
    }

    #[test]
    fn a_sign_of_life_is_for_this_process() {
        let with = |microseconds: &str, pid: Option<String>| {
            watchdog(|key| match key {
                "WATCHDOG_USEC" => Some(microseconds.to_owned()),
                _ => pid.clone(),
            })
        };
        let second = Some(Duration::from_secs(1));
        assert_eq!(with("1000000", None), second);
        assert_eq!(
            with("1000000", Some(std::process::id().to_string())),
            second
        );
        assert_eq!(with("1000000", Some("1".to_owned())), None);
        assert_eq!(with("0", None), None);
        assert_eq!(with("x", None), None);
    }
}
