//! Which server, and which token: from the command line, or else from the environment, or else from a context.

use std::path::PathBuf;

use portcullis_net::{Address, AddressError, Client, Protocol, Trust, TrustError};

use super::ClientError;
use crate::contexts::{self, Choice, ContextError};
use crate::output;
use crate::secret::Secret;

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

impl ServerAccess {
    /// The server that is given, by the command line, by `PORTCULLIS_SERVER` or by a context that is named; with it the
    /// token that is given, or that belongs to this server.
    pub(crate) fn given(
        server: Option<&str>,
        token: Option<&Secret>,
        ca: Option<&PathBuf>,
    ) -> Result<Option<Self>, ClientError> {
        Wanted { server, token, ca }.found(&contexts::choice(), false)
    }

    /// The same for commands that need one: the current context counts, too.
    pub(crate) fn required(
        server: Option<&str>,
        token: Option<&Secret>,
        ca: Option<&PathBuf>,
    ) -> Result<Self, ClientError> {
        let found = Wanted { server, token, ca }.found(&contexts::choice(), true)?;
        found.ok_or_else(|| {
            ClientError::Usage(
                "no server given: use --server URL, set PORTCULLIS_SERVER, or sign in with `portcullis login`"
                    .to_owned(),
            )
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
        output::detail(|| {
            let token = if self.token.is_some() {
                "with a token"
            } else {
                "without a token"
            };
            format!("using the server {address}, {token}")
        });
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

/// What the command line says.
struct Wanted<'a> {
    server: Option<&'a str>,
    token: Option<&'a Secret>,
    ca: Option<&'a PathBuf>,
}

impl Wanted<'_> {
    /// A flag counts more than the environment, which counts more than the current context. The token of a context is
    /// for its server alone.
    fn found(
        self,
        choice: &Choice,
        takes_current: bool,
    ) -> Result<Option<ServerAccess>, ClientError> {
        let of_environment = variable("PORTCULLIS_SERVER");
        let all = contexts::read();
        let named = match choice {
            Choice::Flag(name) | Choice::Variable(name) => {
                Some(all.as_ref().map_err(Clone::clone)?.get(name)?)
            }
            Choice::Current => None,
        };
        let by_flag = matches!(choice, Choice::Flag(_));
        let server = match (self.server, named, of_environment) {
            (Some(server), ..) => server.to_owned(),
            (None, Some(context), _) if by_flag => context.server.clone(),
            (None, _, Some(server)) => server,
            (None, Some(context), None) => context.server.clone(),
            (None, None, None) if takes_current => {
                match all.as_ref().map_err(Clone::clone)?.current()? {
                    Some(context) => context.server.clone(),
                    None => return Ok(None),
                }
            }
            (None, None, None) => return Ok(None),
        };
        // Contexts that can't be read don't matter to who doesn't need them.
        let current = || {
            all.as_ref()
                .ok()
                .and_then(|all| all.current().ok().flatten())
        };
        let context = named
            .or_else(current)
            .filter(|context| context.is_of(&server));
        let ca = self.ca.cloned().or_else(|| context?.ca.clone());
        let of_environment = || variable("PORTCULLIS_TOKEN").map(Secret);
        let of_context = || {
            context
                .map(contexts::current_token)
                .transpose()
                .map(Option::flatten)
        };
        let token = match self.token.cloned() {
            Some(given) => Some(given),
            // The context that was asked for counts more than the environment.
            None if by_flag && self.server.is_none() => of_context()?.or_else(of_environment),
            None => match of_environment() {
                Some(given) => Some(given),
                None => of_context()?,
            },
        };
        Ok(Some(ServerAccess { server, token, ca }))
    }
}

impl From<ContextError> for ClientError {
    fn from(error: ContextError) -> Self {
        let text = error.to_string();
        match error {
            ContextError::Unknown(_) => Self::Usage(text),
            ContextError::File(_) => Self::Location(text),
            ContextError::SignedOut(_) => Self::NotSignedIn(text),
            ContextError::Unreachable(_) => Self::Unreachable(text),
        }
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
