//! Whether a server of this configuration answers here, and is ready.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use portcullis_config::{Bind, Identity, Listener, Loaded, Service};
use portcullis_net::{Address, Client, Deadline, Error, Limits, Protocol, Request, Trust};

use super::finding::{Finding, Findings};

const CHECK: &str = "server";
const PATH: &str = "/readyz?verbose";
const LIMITS: Limits = Limits {
    deadline: Deadline::After(Duration::from_secs(5)),
    body: 64 << 10,
};

/// Asks the listeners that tell how the server is.
pub(super) async fn check(loaded: &Loaded, findings: &mut Findings) {
    let telling = |listener: &&Listener| listener.serves(Service::Health);
    let mut is_asked = false;
    for listener in loaded.listeners.iter().filter(telling) {
        is_asked = true;
        findings.extend(of_listener(listener).await);
    }
    if !is_asked {
        let why = "no listener serves `health`, so the server can't be asked";
        findings.add(Finding::skipped(CHECK, "", why));
    }
}

async fn of_listener(listener: &Listener) -> Vec<Finding> {
    let place = format!("listener {}", listener.name);
    let asked = match client(listener) {
        Err(why) => return vec![Finding::skipped(CHECK, place, why)],
        Ok(client) => {
            let request = Request::get().with_path(PATH);
            client.exchange(&request, LIMITS).await
        }
    };
    match asked {
        Ok(answer) => {
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            answered(&place, answer.status.as_u16(), &text)
        }
        Err(Error::Connect(error)) => {
            let why = crate::output::reason(&error);
            let message =
                format!("no server answers here ({why}): it may not be running, or run elsewhere");
            vec![Finding::skipped(CHECK, place, message)]
        }
        // It listens; whether its certificate has this name is not what is asked here.
        Err(Error::Tls(error)) => {
            let message =
                format!("a server listens here, but can't be asked over TLS by this name: {error}");
            vec![Finding::skipped(CHECK, place, message)]
        }
        Err(error) => {
            let fix = "look at its log, and start it again if it does not recover";
            vec![Finding::problem(CHECK, place, error, fix)]
        }
    }
}

/// A client of a listener on this machine.
fn client(listener: &Listener) -> Result<Client, String> {
    let (address, trust) = match (&listener.bind, &listener.tls) {
        (Bind::Unix(socket), _) => (Address::Unix(socket.path.clone()), Trust::system()),
        (Bind::Tcp(at), None) => (parse("http", *at)?, Trust::system()),
        (Bind::Tcp(at), Some(tls)) => {
            if tls.client_ca.is_some() {
                return Err("it requires a client certificate".to_owned());
            }
            let Identity::Files { certificate, .. } = &tls.identity else {
                return Err("its certificate is created when it starts".to_owned());
            };
            let pem = portcullis_files::read(certificate, 1 << 20)?;
            let trust = Trust::new(Some(&pem)).map_err(|error| error.to_string())?;
            (parse("https", *at)?, trust)
        }
    };
    Client::new(address, Protocol::Http1, &trust).map_err(|error| error.to_string())
}

fn parse(scheme: &str, at: SocketAddr) -> Result<Address, String> {
    // Listening everywhere is listening on loopback, too.
    let ip = match at.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let at = SocketAddr::new(ip, at.port());
    Address::parse(&format!("{scheme}://{at}")).map_err(|error| error.to_string())
}

/// What the answer says: lines that begin with `[+]` are fine.
fn answered(place: &str, status: u16, text: &str) -> Vec<Finding> {
    let bad = text
        .lines()
        .filter(|line| line.starts_with('[') && !line.starts_with("[+]"));
    let bad: Vec<&str> = bad.collect();
    let fix = "look at its log; /readyz?verbose shows this, too";
    match (status, bad.as_slice()) {
        (200, []) => vec![Finding::ok(CHECK, place, "running and ready")],
        (200, some) => {
            let message = format!("ready, but: {}", some.join("; "));
            vec![Finding::warning(CHECK, place, message, fix)]
        }
        (503, some) => {
            let message = format!("not ready: {}", some.join("; "));
            vec![Finding::problem(CHECK, place, message, fix)]
        }
        (status, _) => {
            let message =
                format!("{PATH} answers {status}, so another program may be listening here");
            let fix = "check which program uses this address";
            vec![Finding::problem(CHECK, place, message, fix)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn answers_are_understood() {
        for (status, text, expected) in [
            (200, "[+]listeners ok\nreadyz check passed\n", State::Ok),
            (
                200,
                "[+]listeners ok\n[-]reload failed: a.yaml\n",
                State::Warning,
            ),
            (
                503,
                "[-]store failed\nreadyz check failed\n",
                State::Problem,
            ),
            (404, "", State::Problem),
        ] {
            let found = answered("listener ops", status, text);
            assert_eq!(found[0].state, expected, "{found:?}");
        }
    }

    #[test]
    fn every_address_is_asked_on_loopback() {
        for (at, expected) in [
            ("0.0.0.0:80", "http://127.0.0.1"),
            ("[::]:8080", "http://[::1]:8080"),
            ("10.0.0.1:81", "http://10.0.0.1:81"),
        ] {
            let address = parse("http", at.parse().unwrap()).unwrap();
            assert_eq!(address.to_string(), expected);
        }
    }
}
