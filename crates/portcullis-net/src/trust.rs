//! Whose certificates are trusted at the other end of a TLS connection, and the client's own.
//!
//! TLS 1.2 and 1.3 with one provider of cryptography, which is given explicitly: nothing here depends on
//! what is installed in a process.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};

use crate::Protocol;

/// Why TLS can't be set up.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TrustError {
    /// The text can't be read.
    #[error("not valid PEM: {0}")]
    Pem(Arc<pem::Error>),
    /// There is nothing in the text.
    #[error("no certificate found")]
    NoCertificate,
    /// A certificate can't be read.
    #[error("invalid certificate: {0}")]
    Certificate(rustls::Error),
    /// A client would not accept a server's certificate, and why.
    #[error("{0}")]
    Refused(String),
    /// There is no private key in the text, or it can't be read.
    #[error("no usable private key: {0}")]
    PrivateKey(Arc<pem::Error>),
    /// Certificate and key can't be used together.
    #[error("certificate and key can't be used: {0}")]
    Identity(rustls::Error),
    /// The system trusts nothing.
    #[error("no trusted CA certificates found on this system")]
    NoSystemAuthorities,
    /// The provider can't do what is needed.
    #[error("TLS can't be set up: {0}")]
    Setup(rustls::Error),
}

/// The one provider of cryptography.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// The certificates of this PEM text, at least one.
///
/// # Errors
///
/// What is wrong with the text.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(TrustError::NoCertificate),
        Ok(found) => Ok(found),
        Err(error) => Err(TrustError::Pem(Arc::new(error))),
    }
}

/// The first private key of this PEM text.
///
/// # Errors
///
/// When there is none.
pub fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TrustError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| TrustError::PrivateKey(Arc::new(error)))
}

/// The authorities of this PEM text, at least one.
///
/// # Errors
///
/// What is wrong with the text.
pub fn authorities(pem: &[u8]) -> Result<RootCertStore, TrustError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(TrustError::Certificate)?;
    }
    Ok(roots)
}

/// The authorities that this system trusts, at least one.
///
/// # Errors
///
/// When there are none.
pub fn system_authorities() -> Result<RootCertStore, TrustError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match roots.is_empty() {
        true => Err(TrustError::NoSystemAuthorities),
        false => Ok(roots),
    }
}

/// Whose certificates count, and our own if we have one. Copies share what they have built.
///
/// INVARIANT: where authorities are given, no others count.
#[derive(Clone)]
pub struct Trust(Arc<Inner>);

struct Inner {
    /// Given ones; else the system's, which are read when they are first needed.
    authorities: Option<RootCertStore>,
    identity: Option<Arc<CertifiedKey>>,
    http1: OnceLock<Result<Arc<ClientConfig>, TrustError>>,
    http2: OnceLock<Result<Arc<ClientConfig>, TrustError>>,
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust")
            .field("authorities", &self.0.authorities)
            .field("has_identity", &self.0.identity.is_some())
            .finish_non_exhaustive()
    }
}

impl Trust {
    /// In the authorities of the system.
    pub fn system() -> Self {
        Self::of(None, None)
    }

    /// In the authorities of this PEM text alone, or else in those of the system.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn new(pem: Option<&[u8]>) -> Result<Self, TrustError> {
        Ok(Self::of(pem.map(authorities).transpose()?, None))
    }

    /// The same, with our own certificate (followed by those between it and its authority) and its key.
    ///
    /// # Errors
    ///
    /// What is wrong with the texts.
    pub fn with_identity(&self, certificate: &[u8], key: &[u8]) -> Result<Self, TrustError> {
        let (chain, key) = (certificates(certificate)?, private_key(key)?);
        let identity = CertifiedKey::from_der(chain, key, &provider());
        let identity = identity.map_err(TrustError::Identity)?;
        let authorities = self.0.authorities.clone();
        Ok(Self::of(authorities, Some(Arc::new(identity))))
    }

    fn of(authorities: Option<RootCertStore>, identity: Option<Arc<CertifiedKey>>) -> Self {
        Self(Arc::new(Inner {
            authorities,
            identity,
            http1: OnceLock::new(),
            http2: OnceLock::new(),
        }))
    }

    pub(crate) fn config(&self, protocol: Protocol) -> Result<Arc<ClientConfig>, TrustError> {
        let built = match protocol {
            Protocol::Http1 => &self.0.http1,
            Protocol::Http2 => &self.0.http2,
        };
        built.get_or_init(|| self.build(protocol)).clone()
    }

    fn build(&self, protocol: Protocol) -> Result<Arc<ClientConfig>, TrustError> {
        let roots = match &self.0.authorities {
            Some(given) => given.clone(),
            None => system_authorities()?,
        };
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(TrustError::Setup)?
            .with_root_certificates(roots);
        let mut config = match &self.0.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let identity = SingleCertAndKey::from(Arc::clone(identity));
                builder.with_client_cert_resolver(Arc::new(identity))
            }
        };
        let name: &[u8] = match protocol {
            Protocol::Http1 => b"http/1.1",
            Protocol::Http2 => b"h2",
        };
        config.alpn_protocols = vec![name.to_vec()];
        Ok(Arc::new(config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "-----BEGIN CERTIFICATE-----\n";
    const END: &str = "\n-----END CERTIFICATE-----\n";

    #[test]
    fn errors_keep_their_cause() {
        for (pem, start) in [
            (String::new(), "no certificate found"),
            (format!("{BEGIN}AAAA"), "not valid PEM: "),
            (format!("{BEGIN}*{END}"), "not valid PEM: "),
            (format!("{BEGIN}AAAA{END}"), "invalid certificate: "),
        ] {
            let why = Trust::new(Some(pem.as_bytes())).unwrap_err().to_string();
            assert!(why.starts_with(start), "{pem}: {why}");
            assert!(
                !start.ends_with(": ") || why.len() > start.len(),
                "no cause: {why}"
            );
        }
    }

    #[test]
    fn an_identity_is_a_certificate_and_its_key() {
        let made = || rcgen::generate_simple_self_signed(["h.example".to_owned()]).unwrap();
        let (one, other) = (made(), made());
        let (certificate, key) = (one.cert.pem(), one.signing_key.serialize_pem());
        let trust = Trust::system();
        let fits = trust.with_identity(certificate.as_bytes(), key.as_bytes());
        let shown = format!("{:?}", fits.unwrap());
        assert!(shown.contains("has_identity: true"), "{shown}");
        let refused = |certificate: &str, key: &str| {
            let refused = trust.with_identity(certificate.as_bytes(), key.as_bytes());
            refused.unwrap_err().to_string()
        };
        let wrong = refused(&certificate, &other.signing_key.serialize_pem());
        assert!(
            wrong.starts_with("certificate and key can't be used: "),
            "{wrong}"
        );
        let wrong = refused(&certificate, &certificate);
        assert!(wrong.starts_with("no usable private key: "), "{wrong}");
        assert_eq!(refused("", &key), "no certificate found");
    }
}
