//! The name or IP address of a server.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use super::AddressError;

/// The name or number of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// In lower case.
    Name(String),
    /// A number.
    Ip(IpAddr),
}

impl Host {
    /// Reads a name, an IPv4 address or an IPv6 address in brackets.
    ///
    /// # Errors
    ///
    /// When it has none of these forms.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if let Some(inner) = text.strip_prefix('[') {
            let number = inner.strip_suffix(']').and_then(|n| n.parse().ok());
            let number = number.ok_or(AddressError::Host)?;
            return Ok(Self::Ip(IpAddr::V6(number)));
        }
        let name = text.to_ascii_lowercase();
        let is_label = |label: &str| {
            let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
            !label.is_empty() && label.len() <= 63 && label.bytes().all(inner)
        };
        let labels = name.strip_suffix('.').unwrap_or(&name);
        if labels.len() > 253 || !labels.split('.').all(is_label) {
            return Err(AddressError::Host);
        }
        // What resolvers would take for a number has to be one, in its usual form.
        let last = labels.rsplit('.').next().unwrap_or_default();
        if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
            let number: Ipv4Addr = name.parse().map_err(|_| AddressError::Host)?;
            return Ok(Self::Ip(IpAddr::V4(number)));
        }
        Ok(Self::Name(name))
    }

    /// Whether it is this machine, whatever a resolver says.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Ip(ip) => ip.is_loopback(),
        }
    }

    /// Whether there is no other way to write it.
    pub(super) fn is_plain(&self) -> bool {
        let is_plain =
            |label: &str| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-');
        match self {
            Self::Name(name) => name.split('.').all(is_plain),
            Self::Ip(_) => true,
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
