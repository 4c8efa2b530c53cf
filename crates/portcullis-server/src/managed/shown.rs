//! What a listener with a managed certificate shows of itself: the certificate of the moment.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use portcullis_certificates::Identity;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// The certificate of the moment; without one, handshakes fail.
#[derive(Debug, Default)]
pub(crate) struct Shown(ArcSwapOption<CertifiedKey>);

impl Shown {
    /// Begins with what another one shows.
    pub(super) fn like(other: &Self) -> Self {
        Self(ArcSwapOption::from(other.0.load_full()))
    }

    /// Shows this from now on.
    pub(super) fn show(&self, identity: &Identity) -> Result<(), String> {
        let chain = vec![CertificateDer::from(identity.certificate.der().to_vec())];
        // Not the key itself in any error.
        let key = PrivateKeyDer::from_pem_slice(identity.key.pem().as_bytes());
        let key = key.map_err(|_| "no usable private key".to_owned())?;
        let certified = CertifiedKey::from_der(chain, key, &portcullis_net::provider());
        let certified = certified.map_err(|error| error.to_string())?;
        self.0.store(Some(Arc::new(certified)));
        Ok(())
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load_full()
    }
}
