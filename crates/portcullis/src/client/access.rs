//! Which server, and who asks: from the command line, or else from the environment.

use std::path::PathBuf;

/// Which server, and who asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Access {
    /// The server: `https://…`, `http://…` or `unix:///path`.
    pub(crate) server: String,
    /// The bearer token.
    pub(crate) token: Option<Secret>,
    /// CA certificates to trust instead of the system's, PEM.
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

impl Access {
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
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
