//! The part of the command line that says which server is asked.

use std::path::PathBuf;

use clap::Args;

use crate::client::Secret;

/// The server, and how to authenticate to it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server options")]
pub(crate) struct Server {
    /// A running server: `https://HOST`, `http://HOST` or `unix:///PATH` [env: `PORTCULLIS_SERVER`].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Bearer token [env: `PORTCULLIS_TOKEN`].
    #[arg(long, value_name = "TOKEN", value_parser = secret)]
    pub(crate) token: Option<Secret>,
    /// CA certificates to trust instead of the system's, in PEM format.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

#[expect(clippy::unnecessary_wraps, reason = "clap asks for a result")]
pub(crate) fn secret(text: &str) -> Result<Secret, String> {
    Ok(Secret(text.to_owned()))
}
