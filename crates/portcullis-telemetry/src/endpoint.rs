//! Where a receiver is.

use hyper::Uri;
use hyper::http::uri::Scheme;

/// The address of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) is_secure: bool,
    /// Without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port as they go into a request.
    pub(crate) authority: String,
    /// What to ask for there.
    pub(crate) path: String,
}

impl Endpoint {
    /// Reads an address. What is wrong is said without repeating it: it may hold a password.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let uri: Uri = text.parse().map_err(|_| "is not a URL")?;
        let is_secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err("must begin with http:// or https://"),
        };
        let authority = uri.authority().ok_or("names no host")?;
        if authority.as_str().contains('@') {
            return Err("must not hold a user or password; use the variable for headers");
        }
        let host = authority.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if bare.is_empty() {
            return Err("names no host");
        }
        if authority.as_str().len() > host.len() && authority.port_u16().is_none() {
            return Err("has a port that is none");
        }
        Ok(Self {
            is_secure,
            host: bare.to_owned(),
            port: authority
                .port_u16()
                .unwrap_or(if is_secure { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: uri
                .path_and_query()
                .map_or_else(|| "/".to_owned(), |p| p.as_str().to_owned()),
        })
    }

    /// The same with something added to its path.
    pub(crate) fn join(mut self, more: &str) -> Self {
        let base = self.path.split('?').next().unwrap_or_default();
        self.path = format!("{}{more}", base.trim_end_matches('/'));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let endpoint = Endpoint::parse("http://localhost:4318").unwrap();
        assert_eq!((endpoint.port, endpoint.path.as_str()), (4318, "/"));
        assert_eq!(endpoint.join("/v1/traces").path, "/v1/traces");
        let endpoint = Endpoint::parse("https://x.example/otlp/?a=b").unwrap();
        assert_eq!((endpoint.port, endpoint.is_secure), (443, true));
        assert_eq!(endpoint.join("/v1/logs").path, "/otlp/v1/logs");
        let endpoint = Endpoint::parse("http://[::1]:4318/x").unwrap();
        assert_eq!(endpoint.host, "::1");
        assert_eq!(endpoint.authority, "[::1]:4318");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for bad in [
            "",
            "localhost:4317",
            "/v1",
            "grpc://x:1",
            "http://",
            "http://u:p@x",
            "http://x:99999",
            "http://x:",
            "http://x y",
        ] {
            assert!(Endpoint::parse(bad).is_err(), "{bad}");
        }
    }
}
