//! Whom to believe at the other end of a TLS connection.

use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// The authorities of this PEM text.
pub(crate) fn authorities(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("is not valid PEM: {error}"))?;
        roots
            .add(certificate)
            .map_err(|error| format!("holds a certificate that can't be read: {error}"))?;
    }
    if roots.is_empty() {
        return Err("holds no certificate".to_owned());
    }
    Ok(roots)
}

/// Whom to believe, for forwards and for the services of the world.
#[derive(Debug)]
pub(crate) struct Trust {
    own: Option<Arc<ClientConfig>>,
    system: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Trust {
    /// Of the authorities for forwards, if there are any.
    pub(crate) fn new(pem: Option<&[u8]>) -> Result<Self, String> {
        let own = match pem {
            Some(pem) => Some(config(authorities(pem)?)?),
            None => None,
        };
        Ok(Self {
            own,
            system: OnceLock::new(),
        })
    }

    /// For forwards: the authorities given, or else the system's.
    pub(crate) fn forwards(&self) -> Result<Arc<ClientConfig>, String> {
        match &self.own {
            Some(own) => Ok(Arc::clone(own)),
            None => self.services(),
        }
    }

    /// The system's authorities, read when they are first needed.
    pub(crate) fn services(&self) -> Result<Arc<ClientConfig>, String> {
        self.system.get_or_init(system).clone()
    }
}

fn system() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("this system has no certificate authorities to believe".to_owned());
    }
    config(roots)
}

fn config(roots: RootCertStore) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS can't be used: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
