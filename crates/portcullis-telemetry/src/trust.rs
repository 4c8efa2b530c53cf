//! Whom to believe at the other end of a TLS connection, and who to be.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// Which files make up trust.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Files<'a> {
    /// Authorities; the system's where there are none.
    pub(crate) authorities: Option<&'a str>,
    /// Our own certificate, and its key.
    pub(crate) own: Option<(&'a str, &'a str)>,
}

/// A configuration for this protocol.
pub(crate) fn config(files: Files<'_>, protocol: &[u8]) -> Result<Arc<ClientConfig>, String> {
    let roots = match files.authorities {
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                let added = roots.add(certificate);
                added.map_err(|error| {
                    format!("{file} holds a certificate that can't be read: {error}")
                })?;
            }
            roots
        }
        None => system()?,
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS can't be used: {error}"))?
        .with_root_certificates(roots);
    let mut config = match files.own {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::from_pem_slice(&read(key)?)
                .map_err(|error| format!("{key} holds no private key: {error}"))?;
            builder
                .with_client_auth_cert(certificates(certificate)?, key)
                .map_err(|error| format!("{certificate} and its key can't be used: {error}"))?
        }
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(Arc::new(config))
}

fn system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("this system has no certificate authorities to believe".to_owned());
    }
    Ok(roots)
}

fn read(file: &str) -> Result<Vec<u8>, String> {
    std::fs::read(Path::new(file)).map_err(|error| format!("{file} can't be read: {error}"))
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| format!("{file} is not valid PEM: {error}"))?;
    if found.is_empty() {
        return Err(format!("{file} holds no certificate"));
    }
    Ok(found)
}
