//! A certificate for the servers of a run, which the load generator trusts and nobody else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::failure::{Context, Result};

/// The files of a certificate.
#[derive(Debug, Clone)]
pub(crate) struct Certificate {
    /// The certificate, PEM.
    pub(crate) certificate: PathBuf,
    /// Its key, PEM.
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// Makes one for loopback, in this directory.
    pub(crate) fn make(dir: &Path) -> Result<Self> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let params = CertificateParams::new(names).context("certificate")?;
        let pair = KeyPair::generate().context("key of the certificate")?;
        let made = params.self_signed(&pair).context("certificate")?;
        let files = Self {
            certificate: dir.join("tls.crt"),
            key: dir.join("tls.key"),
        };
        std::fs::write(&files.certificate, made.pem()).context(files.certificate.display())?;
        std::fs::write(&files.key, pair.serialize_pem()).context(files.key.display())?;
        Ok(files)
    }

    /// TLS as Portcullis does it: 1.2 and 1.3, HTTP/2 offered.
    pub(crate) fn server(&self) -> Result<Arc<ServerConfig>> {
        let key = PrivateKeyDer::from_pem_file(&self.key).context(self.key.display())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .context("TLS versions")?
            .with_no_client_auth()
            .with_single_cert(vec![self.read()?], key)
            .context("certificate and key")?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// TLS 1.3 of a client that trusts this certificate and speaks this protocol.
    pub(crate) fn client(&self, protocol: &str) -> Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.read()?).context("certificate")?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .context("TLS versions")?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        Ok(Arc::new(config))
    }

    fn read(&self) -> Result<CertificateDer<'static>> {
        CertificateDer::from_pem_file(&self.certificate).context(self.certificate.display())
    }
}
