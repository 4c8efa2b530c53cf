//! Where a server is: `https://…`, `http://…` or `unix:///path`, read strictly.
//!
//! Messages don't repeat the address, which may hold a password.

mod host;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use hyper::http::uri::PathAndQuery;

pub use self::host::Host;

/// The longest address there may be.
const LONGEST: usize = 4096;

/// Why a text is not an address, or not one that may be used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It has too many bytes.
    #[error("invalid address: longer than {LONGEST} bytes")]
    TooLong,
    /// It begins with something else.
    #[error("invalid address: must begin with https://, http:// or unix:///")]
    Scheme,
    /// It begins with something else, where sockets are not supported.
    #[error("invalid address: must begin with https:// or http://")]
    WebScheme,
    /// A socket is not given by its absolute path.
    #[error("invalid socket: must be an absolute path, like unix:///run/x.sock")]
    Socket,
    /// It has an `@`.
    #[error("invalid address: user names and passwords (`@`) are not allowed")]
    UserInfo,
    /// It has a `#`.
    #[error("invalid address: fragments (`#`) are not allowed")]
    Fragment,
    /// It has a `?`, where none may be.
    #[error("invalid address: queries (`?`) are not allowed")]
    Query,
    /// It has characters that no address has.
    #[error("invalid address: contains characters that must be percent-encoded")]
    Characters,
    /// Its host is neither a name nor a number.
    #[error("invalid host: must be a name, an IPv4 address, or an IPv6 address in brackets")]
    Host,
    /// Its port is not a number, or out of range.
    #[error("invalid port: must be a number from 1 to 65535")]
    Port,
    /// Its path could be read as another one.
    #[error("invalid path: `.`, `..`, and encoded `.`, `/`, `\\`, `%` and NUL are not allowed")]
    Path,
    /// It is `http://` to another machine.
    #[error("http:// is for loopback addresses only; use https://")]
    Plaintext,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A unix socket, by its absolute path.
    Unix(PathBuf),
    /// A web address.
    Web(Web),
}

/// A web address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Web {
    /// `https`, not `http`.
    pub secure: bool,
    /// The server.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// Begins with `/`.
    pub path: String,
    /// Without its `?`.
    pub query: Option<String>,
}

impl Address {
    /// Reads `https://…`, `http://…` or `unix:///path`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        check(text)?;
        match split(text) {
            Some(("unix", path)) => Self::socket(path),
            Some(("https", rest)) => Web::read(true, rest).map(Self::Web),
            Some(("http", rest)) => Web::read(false, rest).map(Self::Web),
            _ => Err(AddressError::Scheme),
        }
    }

    /// Reads the absolute path of a unix socket.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn socket(path: &str) -> Result<Self, AddressError> {
        check(path)?;
        if path.len() < 2 || !path.starts_with('/') {
            return Err(AddressError::Socket);
        }
        Ok(Self::Unix(PathBuf::from(path)))
    }

    /// The server without path and query, which may hold secrets.
    pub fn origin(&self) -> String {
        match self {
            Self::Unix(path) => socket_url(path),
            Self::Web(web) => web.origin(),
        }
    }

    /// Host and port, as requests name them.
    pub fn authority(&self) -> String {
        match self {
            Self::Unix(_) => "localhost".to_owned(),
            Self::Web(web) => web.authority(),
        }
    }

    /// Whether only the two ends can read what is sent: by TLS, or on this machine.
    pub fn is_confidential(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Web(web) => web.is_confidential(),
        }
    }

    /// What is asked for there, unless a request says otherwise.
    pub(crate) fn path_and_query(&self) -> String {
        match self {
            Self::Unix(_) => "/".to_owned(),
            Self::Web(web) => web.path_and_query(),
        }
    }
}

impl Web {
    /// Reads `https://…` or `http://…`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        check(text)?;
        match split(text) {
            Some(("https", rest)) => Self::read(true, rest),
            Some(("http", rest)) => Self::read(false, rest),
            _ => Err(AddressError::WebScheme),
        }
    }

    fn read(secure: bool, rest: &str) -> Result<Self, AddressError> {
        if rest.contains('#') {
            return Err(AddressError::Fragment);
        }
        let (before, query) = match rest.split_once('?') {
            Some((before, query)) => (before, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match before.find('/') {
            Some(at) => before.split_at(at),
            None => (before, "/"),
        };
        if authority.contains('@') {
            return Err(AddressError::UserInfo);
        }
        let (host, port) = split_port(authority)?;
        let web = Self {
            secure,
            host: Host::parse(host)?,
            port: port.unwrap_or(if secure { 443 } else { 80 }),
            path: path.to_owned(),
            query: query.map(str::to_owned),
        };
        let asked = web.path_and_query();
        let is_fine = asked.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
        if !is_fine || PathAndQuery::try_from(asked).is_err() {
            return Err(AddressError::Characters);
        }
        Ok(web)
    }

    /// Whether nothing of it could be read as something else, so that it can be compared with a list:
    /// no relative or encoded parts in its path, nothing that needs encoding, no final dot of the host.
    ///
    /// # Errors
    ///
    /// What could be read as something else.
    pub fn check_plain(&self) -> Result<(), AddressError> {
        if !self.host.is_plain() {
            return Err(AddressError::Host);
        }
        if !is_encoded(&self.path) || !self.query.as_deref().is_none_or(is_encoded) {
            return Err(AddressError::Characters);
        }
        let lower = self.path.to_ascii_lowercase();
        let mut hidden = ["%2e", "%2f", "%5c", "%25", "%00"].iter();
        let is_relative = |part: &str| matches!(part.split(';').next(), Some("." | ".."));
        if hidden.any(|code| lower.contains(code)) || self.path.split('/').any(is_relative) {
            return Err(AddressError::Path);
        }
        Ok(())
    }

    /// Whether only the two ends can read what is sent: by TLS, or on this machine.
    pub fn is_confidential(&self) -> bool {
        self.secure || self.host.is_loopback()
    }

    /// As [`Self::is_confidential`], for messages.
    ///
    /// # Errors
    ///
    /// Where others could read it.
    pub fn check_confidential(&self) -> Result<(), AddressError> {
        match self.is_confidential() {
            true => Ok(()),
            false => Err(AddressError::Plaintext),
        }
    }

    /// The same server, another path and query.
    #[must_use]
    pub fn with_path(&self, path: String, query: Option<String>) -> Self {
        Self {
            path,
            query,
            ..self.clone()
        }
    }

    /// Host and port, the port only where it is not the usual one.
    pub fn authority(&self) -> String {
        match (self.secure, self.port) {
            (true, 443) | (false, 80) => self.host.to_string(),
            (_, port) => format!("{}:{port}", self.host),
        }
    }

    /// Path and query, as requested.
    pub fn path_and_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// The server without path and query, which may hold secrets.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme(), self.authority())
    }

    /// All of it.
    pub fn url(&self) -> String {
        format!("{}{}", self.origin(), self.path_and_query())
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }
}

/// Without the query, which may hold secrets.
impl fmt::Display for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path.trim_end_matches('/'))
    }
}

/// Without the query, which may hold secrets.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => f.write_str(&socket_url(path)),
            Self::Web(web) => web.fmt(f),
        }
    }
}

fn socket_url(path: &Path) -> String {
    format!("unix://{}", path.display())
}

fn check(text: &str) -> Result<(), AddressError> {
    if text.len() > LONGEST {
        return Err(AddressError::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(AddressError::Characters);
    }
    Ok(())
}

/// The scheme in lower case, if it is a known one, and what follows it.
fn split(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let known = ["https", "http", "unix"];
    let mut known = known.into_iter();
    Some((known.find(|k| scheme.eq_ignore_ascii_case(k))?, rest))
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), AddressError> {
    let inside = authority.rfind(']').unwrap_or(0);
    let Some(at) = authority.rfind(':').filter(|at| *at > inside) else {
        return Ok((authority, None));
    };
    let (host, port) = authority.split_at(at);
    let port = port.strip_prefix(':').unwrap_or(port);
    let is_number = port.bytes().all(|b| b.is_ascii_digit());
    match port.parse::<u16>() {
        Ok(number) if is_number && number > 0 => Ok((host, Some(number))),
        _ => Err(AddressError::Port),
    }
}

/// Whether everything that must be percent-encoded is, and nothing is encoded by half.
fn is_encoded(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_fine = match byte {
            b'%' => {
                let mut digit = || bytes.next().is_some_and(|b| b.is_ascii_hexdigit());
                digit() && digit()
            }
            other => other.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&other),
        };
        if !is_fine {
            return false;
        }
    }
    true
}
