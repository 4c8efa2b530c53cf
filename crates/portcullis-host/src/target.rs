//! Where a call goes: a unix socket or a web address, read so strictly that there is nothing left
//! to normalise.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use crate::text::has_control;

/// The longest address there may be.
const LONGEST: usize = 4096;

/// Where a call goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A unix socket.
    Unix(PathBuf),
    /// A server.
    Web(Web),
}

/// A web address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Web {
    /// `https`, not `http`.
    pub(crate) secure: bool,
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Begins with `/`.
    pub(crate) path: String,
    /// Without its `?`.
    pub(crate) query: Option<String>,
}

/// The name or number of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// In lower case.
    Name(String),
    Ip(IpAddr),
}

impl Target {
    /// Reads an address: an absolute path or `unix:///path`, `https://…` or `http://…`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("an address has at most {LONGEST} bytes"));
        }
        if has_control(text) {
            return Err("an address has no control characters".to_owned());
        }
        if text.starts_with('/') {
            return unix(text);
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err("an address is https://…, unix:///path or an absolute path".to_owned());
        };
        match (
            scheme.to_ascii_lowercase().as_str(),
            rest.strip_prefix("//"),
        ) {
            ("unix", Some(path)) => unix(path),
            ("https", Some(rest)) => Web::parse(true, rest).map(Self::Web),
            ("http", Some(rest)) => Web::parse(false, rest).map(Self::Web),
            _ => Err("an address is https://…, unix:///path or an absolute path".to_owned()),
        }
    }
}

fn unix(path: &str) -> Result<Target, String> {
    let Some(rest) = path.strip_prefix('/') else {
        return Err("a unix socket is given by its absolute path".to_owned());
    };
    if rest.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("the path of a unix socket has no empty parts, `.` or `..`".to_owned());
    }
    Ok(Target::Unix(PathBuf::from(path)))
}

impl Web {
    fn parse(secure: bool, rest: &str) -> Result<Self, String> {
        if rest.contains('#') {
            return Err("an address has no fragment (`#`)".to_owned());
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        if authority.contains('@') {
            return Err("an address has no user name or password (`@`)".to_owned());
        }
        let (host, port) = split_port(authority)?;
        check_path(path)?;
        if let Some(query) = query {
            check_characters(query)?;
        }
        Ok(Self {
            secure,
            host: Host::parse(host)?,
            port: port.unwrap_or(if secure { 443 } else { 80 }),
            path: path.to_owned(),
            query: query.map(str::to_owned),
        })
    }

    /// The same server, another path and query.
    pub(crate) fn with_path(&self, path: String, query: Option<String>) -> Self {
        Self {
            path,
            query,
            ..self.clone()
        }
    }

    /// Host and port, the port only where it is not the usual one.
    pub(crate) fn authority(&self) -> String {
        match (self.secure, self.port) {
            (true, 443) | (false, 80) => self.host.to_string(),
            (_, port) => format!("{}:{port}", self.host),
        }
    }

    /// Path and query, as requested.
    pub(crate) fn path_and_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), String> {
    let inside = authority.rfind(']').unwrap_or(0);
    let Some(at) = authority.rfind(':').filter(|at| *at > inside) else {
        return Ok((authority, None));
    };
    let (host, port) = authority.split_at(at);
    let port = port.strip_prefix(':').unwrap_or(port);
    let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    match port.parse::<u16>() {
        Ok(number) if digits && number > 0 => Ok((host, Some(number))),
        _ => Err("the port of an address is a number from 1 to 65535".to_owned()),
    }
}

/// No path that a server could read as another one.
fn check_path(path: &str) -> Result<(), String> {
    check_characters(path)?;
    let lower = path.to_ascii_lowercase();
    if ["%2e", "%2f", "%5c", "%25", "%00"]
        .iter()
        .any(|e| lower.contains(e))
    {
        return Err("the path of an address has no encoded `.`, `/`, `\\`, `%` or NUL".to_owned());
    }
    let relative = |part: &str| matches!(part.split(';').next(), Some("." | ".."));
    if path.split('/').any(relative) {
        return Err("the path of an address has no `.` or `..`".to_owned());
    }
    Ok(())
}

fn check_characters(text: &str) -> Result<(), String> {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fine = match byte {
            b'%' => {
                let mut digit = || bytes.next().is_some_and(|b| b.is_ascii_hexdigit());
                digit() && digit()
            }
            other => other.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&other),
        };
        if !fine {
            return Err("the address holds characters that must be percent-encoded".to_owned());
        }
    }
    Ok(())
}

impl Host {
    /// Reads a name, an IPv4 number or an IPv6 number in brackets.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(inner) = text.strip_prefix('[') {
            let number = inner.strip_suffix(']').and_then(|n| n.parse().ok());
            return number
                .map(|n| Self::Ip(IpAddr::V6(n)))
                .ok_or_else(|| "what is in brackets is not an IPv6 number".to_owned());
        }
        let wrong = || "the host of an address is a plain name or number".to_owned();
        let name = text.to_ascii_lowercase();
        let label = |l: &str| {
            let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
            !l.is_empty()
                && l.len() <= 63
                && l.bytes().all(inner)
                && !l.starts_with('-')
                && !l.ends_with('-')
        };
        if name.len() > 253 || !name.split('.').all(label) {
            return Err(wrong());
        }
        // What resolvers would take for a number has to be one, in its usual form.
        let last = name.rsplit('.').next().unwrap_or_default();
        if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
            let number: Ipv4Addr = name.parse().map_err(|_| wrong())?;
            return Ok(Self::Ip(IpAddr::V4(number)));
        }
        Ok(Self::Name(name))
    }

    /// Whether it is this machine, whatever a resolver says.
    pub(crate) fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Ip(ip) => ip.is_loopback(),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ip(IpAddr::V4(ip)) => write!(f, "{ip}"),
            Self::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
        }
    }
}

/// Where it goes, without path and query, which may hold secrets.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Web(web) => write!(f, "{web}"),
        }
    }
}

impl fmt::Display for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn web(text: &str) -> Web {
        match Target::parse(text) {
            Ok(Target::Web(web)) => web,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn web_addresses() {
        let a = web("HTTPS://Other.Example/v1/c:review?timeout=10s");
        assert_eq!(a.host, Host::Name("other.example".to_owned()));
        assert_eq!(
            (a.secure, a.port, a.path.as_str()),
            (true, 443, "/v1/c:review")
        );
        assert_eq!(a.query.as_deref(), Some("timeout=10s"));
        assert_eq!(a.to_string(), "https://other.example");
        assert_eq!(a.path_and_query(), "/v1/c:review?timeout=10s");
        assert_eq!(web("https://h:8443").path, "/");
        assert_eq!(web("https://[::1]:8443/x").authority(), "[::1]:8443");
        assert_eq!(web("http://127.0.0.1/").port, 80);
        assert_eq!(web("https://h?x=/../y").path, "/");
    }

    #[test]
    fn unix_sockets() {
        let socket = Target::Unix(PathBuf::from("/run/x.sock"));
        assert_eq!(Target::parse("/run/x.sock"), Ok(socket.clone()));
        assert_eq!(Target::parse("unix:///run/x.sock"), Ok(socket));
        for bad in [
            "unix://run/x",
            "unix:/run/x",
            "/run/../x",
            "/run//x",
            "/",
            "/run/./x",
            "/run/x\n",
        ] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_ambiguous_is_read() {
        for bad in [
            "",
            "other.example/x",
            "ftp://h/",
            "file:///etc/passwd",
            "https:/h/",
            "https:///x",
            "https://user@h/",
            "https://user:pass@h/",
            "https://h\\@evil/",
            "https://h\\evil/",
            "https://h/a\\b",
            "https://h/a b",
            "https://h/é",
            "https://é.example/",
            "https://h/#x",
            "https://h/a/../b",
            "https://h/a/./b",
            "https://h/a/..",
            "https://h/a/..;x/b",
            "https://h/a/%2e%2E/b",
            "https://h/a/.%2e/b",
            "https://h/a%2fb",
            "https://h/a%5Cb",
            "https://h/a%252e",
            "https://h/%zz",
            "https://h/%a",
            "https://h:0/",
            "https://h:/",
            "https://h:+80/",
            "https://h:65536/",
            "https://h:80:80/",
            "https://h./",
            "https://-h/",
            "https://h..x/",
            "https://127.1/",
            "https://0x7f.0.0.1/",
            "https://2130706433/",
            "https://[::1/",
            "https://[v1.x]/",
            "https://*.example/",
            "https://h/\r\nX: y",
            " https://h/",
        ] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
        assert!(Target::parse(&format!("https://h/{}", "a".repeat(LONGEST))).is_err());
    }

    proptest! {
        /// Nobody reads another host, port or path in an address than we do.
        #[test]
        fn others_read_the_same(rest in "(h|a\\.b|127\\.0\\.0\\.1|\\[::1\\])?[a-zA-Z0-9.:@/%?#*\\[\\]\\\\;~_-]{0,24}") {
            let text = format!("https://{rest}");
            if let Ok(Target::Web(web)) = Target::parse(&text) {
                let other: hyper::Uri = text.parse().unwrap();
                prop_assert_eq!(web.host.to_string(), other.host().unwrap().to_ascii_lowercase());
                prop_assert_eq!(web.port, other.port_u16().unwrap_or(443));
                prop_assert_eq!(web.path, other.path());
                prop_assert_eq!(web.query.as_deref(), other.query());
            }
        }

        #[test]
        fn anything_can_be_given(text in "\\PC{0,60}") {
            let _ = Target::parse(&text);
        }
    }
}
