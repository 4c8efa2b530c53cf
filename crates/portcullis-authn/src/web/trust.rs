//! Which certificate authorities are trusted at the other end of a TLS connection.

use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// The authorities that were given, or else the system's, which are read when they are first needed.
///
/// INVARIANT: where authorities are given, no other one counts.
#[derive(Debug)]
pub(crate) struct Trust {
    own: Option<RootCertStore>,
    config: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Trust {
    /// With the authorities of this PEM text alone, if there is any.
    pub(crate) fn new(pem: Option<&[u8]>) -> Result<Self, String> {
        Ok(Self {
            own: pem.map(authorities).transpose()?,
            config: OnceLock::new(),
        })
    }

    /// What TLS needs to know.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        self.config.get_or_init(|| self.build()).clone()
    }

    fn build(&self) -> Result<Arc<ClientConfig>, String> {
        let roots = match &self.own {
            Some(own) => own.clone(),
            None => system()?,
        };
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

fn authorities(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("not valid PEM: {error}"))?;
        let added = roots.add(certificate);
        added.map_err(|error| format!("a certificate can't be read: {error}"))?;
    }
    if roots.is_empty() {
        return Err("there is no certificate in this file".to_owned());
    }
    Ok(roots)
}

fn system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("this system has no trusted certificate authorities".to_owned());
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_the_file_is_told_with_its_cause() {
        let refused = |pem: &str| Trust::new(Some(pem.as_bytes())).map(|_| ()).unwrap_err();
        let begin = "-----BEGIN CERTIFICATE-----\n";
        let end = "\n-----END CERTIFICATE-----\n";
        for (pem, start) in [
            (String::new(), "there is no certificate in this file"),
            (format!("{begin}AAAA"), "not valid PEM: "),
            (format!("{begin}*{end}"), "not valid PEM: "),
            (format!("{begin}AAAA{end}"), "a certificate can't be read: "),
        ] {
            let why = refused(&pem);
            assert!(why.starts_with(start), "{pem}: {why}");
            assert!(
                !start.ends_with(": ") || why.len() > start.len(),
                "no cause: {why}"
            );
        }
    }
}
