//! Other programs that decide on reviews: how they are configured and started.
//!
//! `scripts/bench-peers` builds them. Nothing else needs them.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::certificate::Certificate;
use crate::failure::{Context, Result};
use crate::policies::{REGO, Set};
use crate::transport::{Places, Transport};

/// Another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// `github.com/google/acjs`: the same scripts, in an engine written in Go.
    Acjs,
    /// `github.com/open-policy-agent/opa`: the same rules in Rego.
    Opa,
}

impl Peer {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::Acjs, Self::Opa];

    /// The name of its program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Acjs => "acjs",
            Self::Opa => "opa",
        }
    }

    /// The path at which it takes a review and answers with one.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Acjs => "/validate?timeout=10s",
            // The version of the interface that takes the input as it is and answers as it is.
            Self::Opa => "/v0/data/portcullis/bench/main",
        }
    }

    /// The process that answers over this transport: acjs has one listener only.
    pub(crate) fn process(self, set: Set, transport: Transport) -> String {
        match self {
            Self::Acjs => format!("acjs, {}, {}", set.name(), transport.name()),
            Self::Opa => self.name().to_owned(),
        }
    }

    /// Its program in the directory of peers.
    pub(crate) fn program(self, peers: &Path) -> PathBuf {
        peers.join(self.name())
    }

    /// Whether it takes connections over this transport.
    pub(crate) fn is_listening(places: &Places, transport: Transport) -> bool {
        match transport {
            Transport::Unix => UnixStream::connect(&places.unix).is_ok(),
            _ => TcpStream::connect(places.tls).is_ok(),
        }
    }

    /// Writes its files into this directory, and the command that serves them.
    pub(crate) fn command(self, job: &Job<'_>) -> Result<Command> {
        let mut command = Command::new(self.program(job.peers));
        match self {
            Self::Acjs => {
                let file = job.dir.join("acjs.yaml");
                write(&file, &job.acjs().to_string())?;
                command.arg("-config-file").arg(file);
                command.arg("-log_dir").arg(job.dir);
            }
            Self::Opa => {
                let file = job.dir.join("validating.rego");
                write(&file, REGO)?;
                command.args([
                    "run",
                    "--server",
                    "--skip-version-check",
                    "--log-level=error",
                ]);
                command.arg(format!("--addr=unix://{}", job.places.unix.display()));
                command.arg(format!("--addr=https://{}", job.places.tls));
                command
                    .arg("--tls-cert-file")
                    .arg(&job.certificate.certificate);
                command
                    .arg("--tls-private-key-file")
                    .arg(&job.certificate.key);
                command.arg(file);
            }
        }
        Ok(command)
    }
}

/// What a peer is started for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    /// Where the programs are.
    pub(crate) peers: &'a Path,
    /// The policies.
    pub(crate) set: Set,
    /// The way it must listen on.
    pub(crate) transport: Transport,
    /// Where it lies.
    pub(crate) dir: &'a Path,
    /// Where it listens.
    pub(crate) places: &'a Places,
    /// What it shows over TLS.
    pub(crate) certificate: &'a Certificate,
}

impl Job<'_> {
    /// The configuration of acjs. It is JSON, which every reader of YAML takes.
    pub(crate) fn acjs(&self) -> Value {
        let listener = match self.transport {
            Transport::Unix => json!({"path": {"socketPath": self.places.unix}}),
            _ => json!({"tls": {
                "listenOn": self.places.tls.to_string(),
                "certificatePath": self.certificate.certificate,
                "privateKeyPath": self.certificate.key,
            }}),
        };
        let mut keys = self.set.keys();
        if let Some(keys) = keys.as_object_mut() {
            keys.insert("listener".to_owned(), listener);
        }
        keys
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).context(file.display())
}
