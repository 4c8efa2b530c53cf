//! A certificate for development: made once, kept in the data directory, valid on loopback.
//!
//! It is its own authority, so that `curl --cacert` and a webhook's `caBundle` accept it.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use portcullis_certificates::Identity;
use portcullis_files::Use;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The files of the certificate and its key, made if they are not there.
pub(crate) fn certificate(data_dir: &Path) -> Result<(PathBuf, PathBuf), String> {
    let dir = data_dir.join("development");
    let (certificate, key) = (dir.join("tls.crt"), dir.join("tls.key"));
    portcullis_files::prepare_directory(data_dir)?;
    for (path, used) in [
        (&dir, Use::Data),
        (&certificate, Use::Data),
        (&key, Use::Key),
    ] {
        portcullis_files::check_own(path, used)
            .map_err(|reason| format!("`{}`: {reason}", path.display()))?;
    }
    if certificate.exists() && key.exists() {
        return Ok((certificate, key));
    }
    let at = |e: std::io::Error| format!("{}: {e}", dir.display());
    let mut builder = std::fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(&dir)
        .map_err(at)?;
    let made = make()?;
    write(&key, made.key.pem(), 0o600).map_err(at)?;
    write(&certificate, &made.certificate.pem(), 0o644).map_err(at)?;
    Ok((certificate, key))
}

/// The same without files, to check a configuration without leaving a trace.
pub(crate) fn in_memory() -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String>
{
    let made = make()?;
    let key = portcullis_net::private_key(made.key.pem().as_bytes());
    let key = key.map_err(|error| error.to_string())?;
    let certificate = CertificateDer::from(made.certificate.der().to_vec());
    Ok((vec![certificate], key))
}

fn make() -> Result<Identity, String> {
    portcullis_certificates::development().map_err(|error| error.to_string())
}

/// Writes a temporary file and renames it, so that no reader sees half a file.
fn write(file: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let aside = file.with_extension(format!("new-{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    let mut new = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(&aside)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()?;
    std::fs::rename(aside, file)
}
