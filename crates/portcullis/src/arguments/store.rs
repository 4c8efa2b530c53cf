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
