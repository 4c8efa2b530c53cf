//! `portcullis health`: whether a running server is healthy. Probes of containers and services call it, where there is
//! no shell and no curl.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueHint};
use portcullis_config::{Bind, Listener, Service};
use portcullis_net::{Address, Client, Deadline, Limits, Protocol, Request, Trust};

use super::text::error;
use crate::arguments::{Configuration, span};
use crate::exit::Exit;
use crate::output;

/// The most bytes of an answer.
const LARGEST_ANSWER: usize = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct Health {
    #[command(flatten)]
    configuration: Configuration,
    /// Server to ask instead of the one that the configuration describes: `http://HOST:PORT`, `https://HOST:PORT` or
    /// `unix:///PATH`.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, conflicts_with = "config")]
    url: Option<String>,
    /// CA certificates to trust instead of the system's, in PEM format.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "url")]
    ca: Option<PathBuf>,
    /// Ask whether the server runs (`/livez`), not whether it is ready for requests (`/readyz`).
    #[arg(long)]
    live: bool,
    /// How long to wait for the answer.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = span)]
    timeout: Duration,
}

/// Why the question could not be asked, or was not answered with yes.
enum Failure {
    Asking(String),
    Unhealthy(String),
}

/// Asks, and ends with 0 or 1.
pub(super) fn run(health: &Health) -> Exit {
    let (address, trust) = match health.server() {
        Ok(server) => server,
        Err(exit) => return exit,
    };
    let path = if health.live { "/livez" } else { "/readyz" };
    match ask(address, &trust, path, health.timeout) {
        Ok(asked) => {
            output::hint(&format!("{asked} answers ok"));
            Exit::Yes
        }
        Err(Failure::Asking(why)) => {
            error::tell(&why);
            Exit::Invalid
        }
        Err(Failure::Unhealthy(why)) => {
            error::tell(&why);
            Exit::No
        }
    }
}

impl Health {
    /// The server, and which certificates are accepted.
    fn server(&self) -> Result<(Address, Trust), Exit> {
        let usage = |why: &dyn std::fmt::Display| {
            error::usage("health", &format!("invalid value for --url: {why}"));
            Exit::Usage
        };
        match &self.url {
            Some(url) => {
                let address = Address::parse(url).map_err(|why| usage(&why))?;
                let trust = self.trust().map_err(|why| {
                    error::tell(&why);
                    Exit::Invalid
                })?;
                Ok((address, trust))
            }
            None => {
                let file = self.configuration.file();
                let listeners = portcullis_config::listeners(&file).map_err(|faults| {
                    error::faults(&faults);
                    Exit::Invalid
                })?;
                let address = of_listeners(&listeners).map_err(|why| {
                    error::tell(&format!("{}: {why}", file.display()));
                    Exit::Invalid
                })?;
                Ok((address, Trust::system()))
            }
        }
    }

    fn trust(&self) -> Result<Trust, String> {
        let Some(file) = &self.ca else {
            return Ok(Trust::system());
        };
        let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
        let pem = std::fs::read(file).map_err(|why| wrong(&output::reason(&why)))?;
        Trust::new(Some(&pem)).map_err(|why| wrong(&why))
    }
}

/// Where a server with these listeners can be asked without certificates.
fn of_listeners(listeners: &[Listener]) -> Result<Address, String> {
    let serving = || listeners.iter().filter(|one| one.serves(Service::Health));
    let mut plain = serving().filter(|one| one.tls.is_none());
    if let Some(listener) = plain.next() {
        return match &listener.bind {
            Bind::Unix(socket) => absolute(&socket.path).map(Address::Unix),
            Bind::Tcp(address) => {
                let url = format!("http://{}", reachable(*address));
                Address::parse(&url).map_err(|why| why.to_string())
            }
        };
    }
    Err(match serving().next() {
        Some(listener) => format!(
            "the listener `{}` serves `health` with TLS only: use --url https://NAME:PORT and --ca FILE, or add a \
             listener on a loopback address without TLS",
            listener.name
        ),
        None => "no listener serves `health`: add one, or use --url URL".to_owned(),
    })
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|why| output::reason(&why))
}

/// A server that listens on all addresses is asked on loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// What was asked, if the answer is yes.
fn ask(address: Address, trust: &Trust, path: &str, timeout: Duration) -> Result<String, Failure> {
    let asked = format!("{} {path}", address.origin());
    let failed = |why: &dyn std::fmt::Display| Failure::Asking(format!("{asked}: {why}"));
    let client = Client::new(address, Protocol::Http1, trust).map_err(|why| failed(&why))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|why| failed(&output::reason(&why)))?;
    let limits = Limits {
        deadline: Deadline::After(timeout),
        body: LARGEST_ANSWER,
    };
    let request = Request::get().with_path(format!("{path}?verbose"));
    let answer = runtime.block_on(client.exchange(&request, limits));
    let answer = answer.map_err(|why| Failure::Unhealthy(format!("{asked}: {why}")))?;
    if answer.status.is_success() {
        return Ok(asked);
    }
    let body = String::from_utf8_lossy(&answer.body);
    let status = answer.status.as_u16();
    let failures = body.lines().filter(|line| line.starts_with("[-]"));
    let lines =
        std::iter::once(format!("{asked} answers {status}")).chain(failures.map(str::to_owned));
    Err(Failure::Unhealthy(lines.collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_are_asked_on_loopback() {
        for (bound, asked) in [
            ("0.0.0.0:9090", "127.0.0.1:9090"),
            ("[::]:9090", "[::1]:9090"),
            ("10.0.0.1:80", "10.0.0.1:80"),
            ("127.0.0.2:80", "127.0.0.2:80"),
        ] {
            assert_eq!(reachable(bound.parse().unwrap()).to_string(), asked);
        }
    }
}
