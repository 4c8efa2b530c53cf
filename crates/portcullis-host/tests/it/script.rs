//! Stand-ins for programs: small shell scripts in a folder of their own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portcullis_host::{ExternalHost, HostSettings};
use tempfile::TempDir;

use crate::support::settings;

/// A folder of stand-ins.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Writes a script. Another program does it: a file that this one had open for writing could
    /// not be run while a child of another test still holds it.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        let mut writer = Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let text = format!("#!/bin/sh\nD='{}'\n{text}\n", self.folder.path().display());
        let mut pipe = writer.stdin.take().unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
        drop(pipe);
        assert!(writer.wait().unwrap().success());
        path
    }

    /// A host with this stand-in for cosign.
    pub(crate) fn cosign(&self, text: &str) -> ExternalHost {
        ExternalHost::new(HostSettings {
            cosign: self.script("cosign", text),
            ..settings()
        })
        .unwrap()
    }

    /// A host with this stand-in for slsa-verifier.
    pub(crate) fn slsa_verifier(&self, text: &str) -> ExternalHost {
        ExternalHost::new(HostSettings {
            slsa_verifier: self.script("slsa-verifier", text),
            ..settings()
        })
        .unwrap()
    }
}

/// Whether a process is there and not yet dead.
pub(crate) fn is_alive(id: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id.trim()).join("stat"));
    let state = stat.ok().and_then(|stat| {
        let (_, rest) = stat.rsplit_once(')')?;
        rest.trim().chars().next()
    });
    !matches!(state, None | Some('Z' | 'X'))
}
