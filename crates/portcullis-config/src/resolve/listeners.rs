//! Checks of `listeners`.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    model::{
        Bind, Identity, Listener, ListenerSpec, ModeSpec, Service, Style, Tls, TlsSpec, UnixSocket,
        UnixSpec,
    },
    notes::Notes,
};
use portcullis_document::{Document, Origin};

use super::managed;

/// What a socket's path may take on Linux, without the closing zero.
const LONGEST_SOCKET_PATH: usize = 107;
const DEFAULT_MODE: u32 = 0o660;

/// Checks and resolves all listeners.
pub(crate) fn listeners(
    document: &Document,
    specs: &[ListenerSpec],
    notes: &mut Notes,
) -> Vec<Listener> {
    if specs.is_empty() {
        notes.fault(document.fault(
            "listeners",
            "no listener is configured: at least one is needed",
        ));
    }
    let mut names = HashMap::new();
    let mut resolved: Vec<Listener> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let at = format!("listeners[{index}]");
        let name_at = format!("{at}.name");
        if spec.name.is_empty() {
            notes.fault(document.fault(&name_at, "the name is empty"));
        } else if let Some(first) = names.insert(spec.name.as_str(), index) {
            let message = format!("the name `{}` is taken by listeners[{first}]", spec.name);
            notes.fault(document.fault(&name_at, message));
        }
        let Some(bind) = bind(document, &at, spec, notes) else {
            continue;
        };
        if let Some(other) = resolved.iter().find(|other| collide(&other.bind, &bind)) {
            let (key, written) = match &bind {
                Bind::Tcp(address) => ("tcp", address.to_string()),
                Bind::Unix(socket) => ("unix.path", socket.path.display().to_string()),
            };
            let message = format!(
                "the address `{written}` is taken by the listener `{}`",
                other.name
            );
            notes.fault(document.fault(&format!("{at}.{key}"), message));
        }
        if spec.connections == Some(0) {
            let fault = document.fault(&format!("{at}.connections"), "must be more than zero");
            notes.fault(fault);
        }
        resolved.push(Listener {
            name: spec.name.clone(),
            tls: spec
                .tls
                .as_ref()
                .and_then(|tls| resolve_tls(document, &format!("{at}.tls"), tls, notes)),
            bind,
            serves: services(document, &at, &spec.serves, notes),
            connections: spec.connections,
            style: Style::Doors,
            origin: Origin::of(document, &at),
        });
    }
    resolved
}

fn bind(document: &Document, at: &str, spec: &ListenerSpec, notes: &mut Notes) -> Option<Bind> {
    let fault = match (&spec.tcp, &spec.unix) {
        (Some(tcp), None) => match address(tcp) {
            Ok(address) => {
                check_exposure(document, at, spec, address, notes);
                return Some(Bind::Tcp(address));
            }
            Err(message) => document.fault(&format!("{at}.tcp"), message),
        },
        (None, Some(unix)) => {
            if spec.tls.is_some() {
                let message = "TLS is for TCP: a unix socket has file permissions and no TLS";
                notes.fault(document.fault(&format!("{at}.tls"), message));
            }
            return Some(Bind::Unix(socket(
                document,
                &format!("{at}.unix"),
                unix,
                notes,
            )));
        }
        (Some(_), Some(_)) => document.fault(at, "the listener has both `tcp` and `unix`: use one"),
        (None, None) => {
            document.fault(at, "the listener has neither `tcp` nor `unix`: give it one")
        }
    };
    notes.fault(fault);
    None
}

fn check_exposure(
    document: &Document,
    at: &str,
    spec: &ListenerSpec,
    address: SocketAddr,
    notes: &mut Notes,
) {
    let plain = spec.tls.is_none();
    if plain && !address.ip().to_canonical().is_loopback() && !spec.insecure {
        let message = format!(
            "plain TCP on `{address}` can be reached from other hosts: use a loopback address, add `tls`, \
             or set `insecure: true`"
        );
        notes.fault(document.fault(&format!("{at}.tcp"), message));
    }
    if spec.insecure && !plain {
        notes.warn(format!(
            "the listener `{}` has TLS, so its `insecure` does nothing",
            spec.name
        ));
    }
}

/// An IP address and a port; `localhost` stands for 127.0.0.1.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port.parse::<u16>().ok()),
        None => (text, None),
    };
    match (host, port) {
        ("localhost", Some(port)) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        ("" | "*", Some(port)) => Err(format!(
            "`{text}` has no host: use `127.0.0.1:{port}`, or `0.0.0.0:{port}` for all of them"
        )),
        _ if text.parse::<IpAddr>().is_ok() => Err(format!("the address `{text}` has no port")),
        _ => Err(format!(
            "`{text}` is not an address: use an IP address and a port, like `127.0.0.1:8443` or `[::1]:8443`"
        )),
    }
}

fn collide(left: &Bind, right: &Bind) -> bool {
    match (left, right) {
        (Bind::Tcp(left), Bind::Tcp(right)) => {
            let everywhere = left.ip().is_unspecified() || right.ip().is_unspecified();
            let overlap =
                left.ip() == right.ip() || (everywhere && left.is_ipv4() == right.is_ipv4());
            left.port() != 0 && left.port() == right.port() && overlap
        }
        (Bind::Unix(left), Bind::Unix(right)) => left.path == right.path,
        _ => false,
    }
}

fn socket(document: &Document, at: &str, spec: &UnixSpec, notes: &mut Notes) -> UnixSocket {
    UnixSocket {
        path: socket_path(document, &format!("{at}.path"), &spec.path, notes),
        mode: mode(document, &format!("{at}.mode"), spec.mode.as_ref(), notes),
        owner: spec.owner.clone(),
        group: spec.group.clone(),
    }
}

/// Resolves the path of a socket, and faults if it can't be one.
pub(super) fn socket_path(
    document: &Document,
    at: &str,
    named: &Path,
    notes: &mut Notes,
) -> PathBuf {
    let path = document.source.resolve(named);
    if named.as_os_str().is_empty() {
        notes.fault(document.fault(at, "the path is empty"));
    }
    if path.as_os_str().as_bytes().len() > LONGEST_SOCKET_PATH {
        let message = format!(
            "the path `{}` is too long for a socket: at most {LONGEST_SOCKET_PATH} bytes",
            path.display()
        );
        notes.fault(document.fault(at, message));
    }
    path
}

fn mode(document: &Document, at: &str, spec: Option<&ModeSpec>, notes: &mut Notes) -> u32 {
    let written = match spec {
        None => return DEFAULT_MODE,
        Some(ModeSpec::Text(text)) => text.as_str(),
        // An alias or a tag has no digits here, and is rejected below.
        Some(ModeSpec::Number) => document
            .source
            .word_at(document.root.nearest(at).position)
            .unwrap_or_default(),
    };
    let digits = written.strip_prefix("0o").unwrap_or(written);
    let octal = !digits.is_empty() && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    match u32::from_str_radix(digits, 8) {
        Ok(mode) if octal && mode <= 0o777 => mode,
        _ => {
            let message = format!(
                "`{written}` is not a mode: use three octal digits in quotes, like \"0660\""
            );
            notes.fault(document.fault(at, message));
            DEFAULT_MODE
        }
    }
}

fn resolve_tls(document: &Document, at: &str, spec: &TlsSpec, notes: &mut Notes) -> Option<Tls> {
    let file = |key: &str, named: &Option<_>, notes: &mut Notes| {
        named
            .as_ref()
            .map(|named: &PathBuf| notes.named_file(document, &format!("{at}.{key}"), named))
    };
    let certificate = file("certificate", &spec.certificate, notes);
    let key = spec.key.as_ref();
    let key = key.map(|named| notes.named_key(document, &format!("{at}.key"), named));
    let client_ca = file("clientCA", &spec.client_ca, notes);
    if let Some(managed) = &spec.managed {
        let is_alone = certificate.is_none() && key.is_none() && !spec.development;
        if !is_alone {
            let message = "`managed` makes its own certificate: remove `certificate`, `key` and `development`, or `managed`";
            notes.fault(document.fault(at, message));
        }
        let managed = managed::managed(document, &format!("{at}.managed"), managed, notes)?;
        return Some(Tls {
            identity: Identity::Managed(Box::new(managed)),
            client_ca,
        });
    }
    let message = match (certificate, key, spec.development) {
        (Some(certificate), Some(key), false) => {
            return Some(files_of_tls(certificate, key, client_ca));
        }
        (None, None, true) => {
            return Some(Tls {
                identity: Identity::Development,
                client_ca,
            });
        }
        (_, _, true) => {
            "`development` makes its own certificate: remove `certificate` and `key`, or `development`"
        }
        (Some(_), None, false) => "the key `key` is missing: a certificate needs its private key",
        (None, Some(_), false) => {
            "the key `certificate` is missing: a private key needs its certificate"
        }
        (None, None, false) => {
            "TLS needs `certificate` and `key`, `managed`, or `development: true`"
        }
    };
    notes.fault(document.fault(at, message));
    None
}

/// TLS with a certificate from files.
pub(super) fn files_of_tls(certificate: PathBuf, key: PathBuf, client_ca: Option<PathBuf>) -> Tls {
    Tls {
        identity: Identity::Files { certificate, key },
        client_ca,
    }
}

fn services(document: &Document, at: &str, serves: &[Service], notes: &mut Notes) -> Vec<Service> {
    if serves.is_empty() {
        notes.fault(document.fault(
            &format!("{at}.serves"),
            "the listener serves nothing: name at least one",
        ));
    }
    let mut services = Vec::with_capacity(serves.len());
    for (index, service) in serves.iter().enumerate() {
        if services.contains(service) {
            let message = format!("`{}` is named twice", service.as_str());
            notes.fault(document.fault(&format!("{at}.serves[{index}]"), message));
        } else {
            services.push(*service);
        }
    }
    services
}
