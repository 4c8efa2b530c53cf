//! The part of the command line that says where decisions are read.

use std::path::PathBuf;

use clap::Args;

use super::secret;
use crate::client::Secret;

/// Where decisions are: a data directory, a store, or a running server.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Decision source")]
pub(crate) struct Store {
    /// The data directory of a server [default: the one `serve` uses]
    /// [env: `PORTCULLIS_DATA_DIR`].
    #[arg(long, value_name = "DIR", conflicts_with_all = ["store", "server"])]
    pub(crate) data_dir: Option<PathBuf>,
    /// The store itself, as in the configuration: `sqlite:FILE` or `postgres://USER@HOST/DB`.
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    pub(crate) store: Option<String>,
    /// A running server: `https://HOST`, `http://HOST` or `unix:///PATH` [env: `PORTCULLIS_SERVER`].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Bearer token [env: `PORTCULLIS_TOKEN`].
    #[arg(long, value_name = "TOKEN", value_parser = secret, conflicts_with_all = ["data_dir", "store"])]
    pub(crate) token: Option<Secret>,
    /// CA certificates to trust instead of the system's, in PEM format.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data_dir", "store"])]
    pub(crate) ca: Option<PathBuf>,
}

impl Store {
    /// The flags that name the same place in another command; never the token.
    pub(crate) fn flags(&self) -> String {
        let dir = self.data_dir.as_ref().map(|dir| dir.display().to_string());
        let all = [
            (" --data-dir ", dir),
            (" --store ", self.store.clone()),
            (" --server ", self.server.clone()),
        ];
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:@".contains(c);
        let given = all.into_iter().filter_map(|(flag, value)| {
            // What may hold a password, or would need quotes, is for the reader to fill in.
            let value = value?;
            let is_fine = value.chars().all(is_plain) && !value.contains('@');
            Some(format!("{flag}{}", if is_fine { &value } else { "…" }))
        });
        given.collect()
    }
}
