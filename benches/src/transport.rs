//! The ways to a server, and where a server is on each of them.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use crate::failure::{Context, Result};

/// A way to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// HTTP/1.1 over plain TCP.
    Tcp,
    /// HTTP/1.1 over a unix socket.
    Unix,
    /// HTTP/1.1 over TLS 1.3.
    Tls,
    /// HTTP/2 over TLS 1.3.
    TlsH2,
}

impl Transport {
    /// Every way, in the order of the report.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 4] = [Self::Tcp, Self::Unix, Self::Tls, Self::TlsH2];

    /// The name on the command line and in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Tls => "tls",
            Self::TlsH2 => "tls-h2",
        }
    }
}

/// Where a server listens: every server of a run listens in each of these places.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// Plain TCP.
    pub(crate) tcp: SocketAddr,
    /// TLS, HTTP/1.1 or HTTP/2 as the handshake settles it.
    pub(crate) tls: SocketAddr,
    /// The socket's path.
    pub(crate) unix: PathBuf,
}

impl Places {
    /// Places that are free now, on loopback and in this directory.
    pub(crate) fn free(dir: &Path) -> Result<Self> {
        let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        // Both are held until both are known, so that they differ.
        let (tcp, tls) = (
            bind().context("no free port")?,
            bind().context("no free port")?,
        );
        Ok(Self {
            tcp: tcp.local_addr().context("a port has no address")?,
            tls: tls.local_addr().context("a port has no address")?,
            unix: dir.join("socket"),
        })
    }
}
