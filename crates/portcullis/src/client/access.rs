//! Which server, and which token: from the command line, or else from the environment.

use std::path::PathBuf;

use portcullis_net::{Address, AddressError, Client, Protocol, Trust, TrustError};

use super::ClientError;

/// The server, and how to authenticate to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerAccess {
    /// The server: `https://…`, `http://…` or `unix:///path`.
    pub(crate) server: String,
    /// The bearer token.
    pub(crate) token: Option<Secret>,
    /// CA certificates to trust instead of the system's, in PEM format.
    pub(crate) ca: Option<PathBuf>,
}

/// A text that is never shown.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

impl ServerAccess {
    /// The server that is given or that `PORTCULLIS_SERVER` names, if any; with it the token that is
    /// given or that `PORTCULLIS_TOKEN` holds.
    pub(crate) fn given(
        server: Option<&str>,
        token: Option<&Secret>,
        ca: Option<&PathBuf>,
    ) -> Option<Self> {
        let server = server.map(str::to_owned);
        let token = token.cloned();
        Some(Self {
            server: server.or_else(|| variable("PORTCULLIS_SERVER"))?,
            token: token.or_else(|| variable("PORTCULLIS_TOKEN").map(Secret)),
            ca: ca.cloned(),
        })
    }

    /// The server; what follows its host stands before every path.
    pub(super) fn address(&self) -> Result<Address, ClientError> {
        let wrong = |error: AddressError| ClientError::Location(format!("server: {error}"));
        let mut address = Address::parse(&self.server).map_err(wrong)?;
        if let Address::Web(web) = &mut address {
            if web.query.is_some() {
                return Err(wrong(AddressError::Query));
            }
            web.check_plain().map_err(wrong)?;
            web.path.truncate(web.path.trim_end_matches('/').len());
        }
        Ok(address)
    }

    /// A client of this server, which trusts the certificates given or else the system's.
    pub(super) fn client(&self, address: Address) -> Result<Client, ClientError> {
        let is_secure = matches!(&address, Address::Web(web) if web.secure);
        let trust = match &self.ca {
            Some(file) if is_secure => {
                let wrong = |error: &dyn std::error::Error| {
                    ClientError::Location(format!("CA certificates {}: {error}", file.display()))
                };
                let pem = std::fs::read(file).map_err(|error| wrong(&error))?;
                Trust::new(Some(&pem)).map_err(|error| wrong(&error))?
            }
            _ => Trust::system(),
        };
        let client = Client::new(address, Protocol::Http1, &trust);
        client.map_err(|error| match error {
            TrustError::NoSystemAuthorities => {
                ClientError::Location(format!("{error}; name a file with --ca"))
            }
            other => ClientError::Location(other.to_string()),
        })
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(server: &str) -> Result<Address, ClientError> {
        let server = server.to_owned();
        ServerAccess {
            server,
            ..ServerAccess::default()
        }
        .address()
    }

    #[test]
    fn servers_may_have_a_path() {
        for (text, shown) in [
            ("https://A.example/", "https://a.example"),
            ("https://a:8443/x/y/", "https://a:8443/x/y"),
            ("http://[::1]:80", "http://[::1]"),
            ("unix:///run/a.sock", "unix:///run/a.sock"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), shown);
        }
        let Ok(Address::Web(web)) = address("https://a/x/") else {
            panic!("no web address");
        };
        assert_eq!(web.path, "/x");
    }

    #[test]
    fn other_texts_are_refused_without_repeating_them() {
        for text in [
            "",
            "a:80",
            "/run/a.sock",
            "https://a:0",
            "https://u:geheim@a",
            "https://a/?geheim",
            "https://a/?",
            "https://a/..",
            "https://a/%2e",
            "https://a b",
        ] {
            let wrong = address(text).expect_err(text);
            assert!(matches!(wrong, ClientError::Location(_)), "{wrong:?}");
            assert!(!wrong.to_string().contains("geheim"), "{wrong}");
        }
    }
}
