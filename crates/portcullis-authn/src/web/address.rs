//! Addresses of providers: `https`, or `http` on this machine.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use hyper::Uri;

/// The longest address there may be.
const LONGEST: usize = 2048;

/// An address that may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    text: String,
    pub(super) secure: bool,
    pub(super) host: Host,
    pub(super) port: u16,
    /// Host and port, as the address has them.
    pub(super) authority: String,
    /// Path and query.
    pub(super) path: String,
}

/// The name or number of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    Name(String),
    Ip(IpAddr),
}

impl Host {
    fn parse(text: &str) -> Self {
        let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        match bare.unwrap_or(text).parse() {
            Ok(ip) => Self::Ip(ip),
            Err(_) => Self::Name(text.to_ascii_lowercase()),
        }
    }

    fn is_loopback(&self) -> bool {
        match self {
            Self::Ip(ip) => ip.is_loopback(),
            Self::Name(name) => name == "localhost",
        }
    }
}

impl Address {
    /// Reads an address; the message says why it can't be one.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| Err(what.to_owned());
        if text.len() > LONGEST {
            return wrong("an address has at most 2048 bytes");
        }
        if text.contains(['#', '\\']) || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return wrong("an address has no `#`, `\\`, spaces or letters beyond ASCII");
        }
        let Ok(uri) = text.parse::<Uri>() else {
            return wrong("this is not an address (https://…)");
        };
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return wrong("an address begins with https://"),
        };
        let Some(authority) = uri.authority() else {
            return wrong("an address names a host");
        };
        if authority.as_str().contains('@') {
            return wrong("an address has no user name or password (`@`)");
        }
        let host = Host::parse(authority.host());
        if authority.host().is_empty() {
            return wrong("an address names a host");
        }
        if !secure && !host.is_loopback() {
            return wrong(
                "http:// is good on this machine only (127.0.0.1, ::1, localhost); use https://",
            );
        }
        let port = match (authority.port_u16(), secure) {
            (Some(0), _) => return wrong("the port of an address is a number from 1 to 65535"),
            (Some(port), _) => port,
            (None, true) => 443,
            (None, false) => 80,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            text: text.to_owned(),
            secure,
            host,
            port,
            authority: authority.as_str().to_owned(),
            path: path.to_owned(),
        })
    }

    /// As it was given.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether this number may be asked, where the address names a host.
    pub(super) fn fits(&self, address: &SocketAddr) -> bool {
        !self.host.is_loopback() || address.ip().is_loopback()
    }
}

/// Without the query, which may say more than everybody should read.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.split('?').next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn parts() {
        let address = Address::parse("https://Sso.Example/keys?x=secret").unwrap();
        assert_eq!((address.secure, address.port), (true, 443));
        assert_eq!(
            (address.authority.as_str(), address.path.as_str()),
            ("Sso.Example", "/keys?x=secret")
        );
        assert_eq!(address.to_string(), "https://Sso.Example/keys");
        let address = Address::parse("http://[::1]:81").unwrap();
        assert_eq!((address.port, address.path.as_str()), (81, "/"));
    }

    #[test]
    fn this_machine_is_not_elsewhere() {
        let here = Address::parse("http://localhost/").unwrap();
        assert!(here.fits(&([127, 0, 0, 1], 80).into()));
        assert!(!here.fits(&([10, 0, 0, 1], 80).into()));
        let there = Address::parse("https://sso.example/").unwrap();
        assert!(there.fits(&([10, 0, 0, 1], 443).into()));
    }
}
