//! Whom to believe at the other end of a TLS connection.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::ClientError;

/// The authorities of this file, or else the system's.
pub(super) fn config(ca: Option<&Path>) -> Result<Arc<ClientConfig>, ClientError> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(file) => {
            let wrong = |what: &str| {
                ClientError::Location(format!("the authorities {}: {what}", file.display()))
            };
            let pem = std::fs::read(file).map_err(|error| wrong(&error.to_string()))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate =
                    certificate.map_err(|error| wrong(&format!("not valid PEM: {error}")))?;
                roots
                    .add(certificate)
                    .map_err(|error| wrong(&format!("a certificate can't be read: {error}")))?;
            }
            if roots.is_empty() {
                return Err(wrong("there is no certificate in this file"));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(ClientError::Location(
                    "this system has no CA certificates to trust: name a file with --ca".to_owned(),
                ));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ClientError::Unreachable(format!("TLS can't be used: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
