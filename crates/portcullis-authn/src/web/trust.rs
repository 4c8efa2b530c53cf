//! Whom to believe at the other end of a TLS connection.

use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// The system's authorities, and perhaps some more. They are read when they are first needed.
#[derive(Debug)]
pub(crate) struct Trust {
    more: Vec<CertificateDer<'static>>,
    config: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Trust {
    /// With the authorities of this PEM text, if there is any.
    pub(crate) fn new(pem: Option<&[u8]>) -> Result<Self, String> {
        let mut more = Vec::new();
        if let Some(pem) = pem {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|_| "this is not valid PEM".to_owned())?;
                let added = roots.add(certificate.clone());
                added.map_err(|_| "a certificate can't be read".to_owned())?;
                more.push(certificate);
            }
            if more.is_empty() {
                return Err("there is no certificate in this file".to_owned());
            }
        }
        Ok(Self {
            more,
            config: OnceLock::new(),
        })
    }

    /// What TLS needs to know.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        self.config.get_or_init(|| self.build()).clone()
    }

    fn build(&self) -> Result<Arc<ClientConfig>, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots.add_parsable_certificates(self.more.iter().cloned());
        if roots.is_empty() {
            return Err("this system has no certificate authorities to believe".to_owned());
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS can't be used: {error}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}
