//! Where a server is: `https://host[:port][/prefix]`, `http://…`, or `unix:///path/to.sock`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A unix socket, by its absolute path.
    Unix(PathBuf),
    /// A web address.
    Web(Web),
}

/// A web address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Web {
    pub(super) is_secure: bool,
    /// A name in lower case, or a number; IPv6 without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// What stands before every path: empty, or `/…` without a slash at its end.
    prefix: String,
}

impl Address {
    /// Reads an address; says what is wrong without repeating it, for it may hold a password.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        const WANTED: &str =
            "a server is given as https://HOST[:PORT], http://HOST[:PORT] or unix:///PATH";
        if text.contains(|c: char| c.is_control() || c == ' ') {
            return Err(WANTED.to_owned());
        }
        let (scheme, rest) = text.split_once("://").ok_or(WANTED)?;
        match scheme.to_ascii_lowercase().as_str() {
            "unix" if rest.len() > 1 && rest.starts_with('/') => Ok(Self::Unix(rest.into())),
            "unix" => Err("a unix socket is given by its absolute path: unix:///PATH".to_owned()),
            "https" => Web::parse(true, rest).map(Self::Web),
            "http" => Web::parse(false, rest).map(Self::Web),
            _ => Err(WANTED.to_owned()),
        }
    }

    /// Whether what is sent there can be read by nobody else: by TLS, or on this machine.
    pub(crate) fn keeps_secrets(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Web(web) => web.is_secure || web.is_loopback(),
        }
    }

    /// What stands before every path.
    pub(super) fn prefix(&self) -> &str {
        match self {
            Self::Unix(_) => "",
            Self::Web(web) => &web.prefix,
        }
    }

    /// Host and port, as a request names them.
    pub(super) fn authority(&self) -> String {
        match self {
            Self::Unix(_) => "localhost".to_owned(),
            Self::Web(web) => {
                let host = match web.host.contains(':') {
                    true => format!("[{}]", web.host),
                    false => web.host.clone(),
                };
                match (web.is_secure, web.port) {
                    (true, 443) | (false, 80) => host,
                    (_, port) => format!("{host}:{port}"),
                }
            }
        }
    }

    /// The same for people.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Unix(path) => format!("unix://{}", path.display()),
            Self::Web(web) => {
                let scheme = if web.is_secure { "https" } else { "http" };
                format!("{scheme}://{}{}", self.authority(), web.prefix)
            }
        }
    }
}

impl Web {
    fn parse(is_secure: bool, rest: &str) -> Result<Self, String> {
        let (authority, prefix) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if rest.contains(['?', '#', '\\']) {
            return Err("the address of a server has no `?`, `#` or `\\`".to_owned());
        }
        if authority.contains('@') {
            return Err("the address of a server has no user name or password (`@`)".to_owned());
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let is_number = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
        let port = match port {
            None => Some(if is_secure { 443 } else { 80 }),
            Some(port) => port.parse().ok().filter(|p| *p > 0 && is_number(port)),
        };
        let port = port.ok_or("the port of a server is a number from 1 to 65535")?;
        let prefix = prefix.trim_end_matches('/');
        let is_fine = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
        if !prefix.bytes().all(is_fine) || prefix.split('/').any(|p| matches!(p, "." | "..")) {
            return Err("the path of a server is made of plain names".to_owned());
        }
        Ok(Self {
            is_secure,
            host: host_name(host).ok_or("the host of a server is a plain name or number")?,
            port,
            prefix: prefix.to_owned(),
        })
    }

    /// Whether it is this machine, whatever a resolver says.
    pub(super) fn is_loopback(&self) -> bool {
        let number: Result<IpAddr, _> = self.host.parse();
        match number {
            Ok(number) => number.is_loopback(),
            Err(_) => self.host == "localhost",
        }
    }
}

fn host_name(text: &str) -> Option<String> {
    if let Some(inner) = text.strip_prefix('[') {
        let number: std::net::Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
        return Some(number.to_string());
    }
    let name = text.to_ascii_lowercase();
    let is_label = |label: &str| {
        let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        !label.is_empty() && label.len() <= 63 && label.bytes().all(inner)
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        return None;
    }
    // What resolvers would take for a number has to be one, in its usual form.
    let last = name.rsplit('.').next()?;
    if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
        let number: Ipv4Addr = name.parse().ok()?;
        return Some(number.to_string());
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, place, authority, keeps) in [
            ("https://A.example/", "https://a.example", "a.example", true),
            ("https://a:8443/x/y/", "https://a:8443/x/y", "a:8443", true),
            (
                "http://127.0.0.1:8080",
                "http://127.0.0.1:8080",
                "127.0.0.1:8080",
                true,
            ),
            ("http://[::1]:80", "http://[::1]", "[::1]", true),
            ("http://localhost", "http://localhost", "localhost", true),
            (
                "http://a.example:80",
                "http://a.example",
                "a.example",
                false,
            ),
            ("http://10.0.0.1", "http://10.0.0.1", "10.0.0.1", false),
            (
                "unix:///run/a.sock",
                "unix:///run/a.sock",
                "localhost",
                true,
            ),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.place(), place);
            assert_eq!(address.authority(), authority, "{text}");
            assert_eq!(address.keeps_secrets(), keeps, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_without_repeating_them() {
        for text in [
            "",
            "a",
            "a:80",
            "ftp://a",
            "https://",
            "https://:80",
            "https://a:0",
            "https://a:x",
            "https://a:+1",
            "https://a:99999",
            "https://u:geheim@a",
            "https://a/?x",
            "https://a/#x",
            "https://a/..",
            "https://a b",
            "https://a\r\nx: y",
            "https://[::1",
            "https://1.2.3",
            "https://0x7f.1",
            "unix://a.sock",
            "unix://",
            "unix:///",
            "https://a/%2e",
        ] {
            let wrong = Address::parse(text).expect_err(text);
            assert!(!wrong.contains("geheim"), "{wrong}");
        }
    }
}
