//! TLS of a listener: certificates from files, kept in a cluster or made for development, client certificates.
//!
//! TLS 1.2 and 1.3 only; HTTP/2 is offered. A configuration is built completely and swapped, so that a
//! certificate that doesn't match its key changes nothing.

use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;

use super::peer;
use super::trust::Trust;
use crate::development;
use crate::managed::{Keeper, ManagedCertificates};
use portcullis_config::{Identity, Tls};

/// Larger files are neither certificates nor keys.
const LARGEST: u64 = 16 << 20;

/// What a listener needs for TLS.
#[derive(Debug, Clone)]
pub(crate) struct TlsSetup {
    /// For the handshake.
    pub(crate) config: Arc<ServerConfig>,
    /// When the certificate ends, in seconds since 1970.
    pub(crate) expires_at: Option<i64>,
    /// Whom it lets in.
    pub(crate) trust: Trust,
    /// Whether the certificate was made here, for development.
    pub(crate) is_development: bool,
    /// Who keeps the certificate, if it is a managed one.
    pub(crate) keeper: Option<Arc<Keeper>>,
}

/// What is shown to clients.
enum Shown {
    /// The same certificate until the next reload.
    Fixed(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>),
    /// What is kept in a cluster, at the moment.
    Kept(Arc<Keeper>),
}

/// Builds the setup; `data_dir` is where a development certificate is kept.
pub(crate) fn build(
    tls: &Tls,
    data_dir: Option<&Path>,
    managed: &ManagedCertificates,
) -> Result<TlsSetup, String> {
    let shown = match (&tls.identity, data_dir) {
        (Identity::Files { certificate, key }, _) => {
            Shown::Fixed(certificates(certificate)?, private_key(key)?)
        }
        (Identity::Development, Some(dir)) => {
            let (certificate, key) = development::certificate(dir)?;
            Shown::Fixed(certificates(&certificate)?, private_key(&key)?)
        }
        (Identity::Development, None) => {
            let (chain, key) = development::in_memory()?;
            Shown::Fixed(chain, key)
        }
        (Identity::Managed(settings), _) => Shown::Kept(managed.keeper(settings)),
    };
    let provider = portcullis_net::provider();
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(|e| e.to_string())?;
    let mut trust = Trust::Encrypted;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            trust = Trust::Clients(digest(&certificates(file)?)?);
            let roots = portcullis_net::authorities(&read(file)?);
            let roots = Arc::new(roots.map_err(|e| format!("{}: {e}", file.display()))?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
            builder.with_client_cert_verifier(
                verifier.map_err(|e| format!("{}: {e}", file.display()))?,
            )
        }
    };
    let (mut config, expires_at, keeper) = match shown {
        Shown::Fixed(chain, key) => {
            let expires_at = chain.first().and_then(peer::expires_at);
            let config = builder.with_single_cert(chain, key);
            (config.map_err(|e| unusable(&e))?, expires_at, None)
        }
        Shown::Kept(keeper) => {
            let config = builder.with_cert_resolver(keeper.shown());
            (config, keeper.expires_at(), Some(keeper))
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsSetup {
        config: Arc::new(config),
        expires_at,
        trust,
        is_development: tls.identity == Identity::Development,
        keeper,
    })
}

/// Why a certificate can't be used.
fn unusable(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InconsistentKeys(_) => "certificate and key do not match".to_owned(),
        other => format!("invalid certificate: {other}"),
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    portcullis_net::certificates(&read(file)?).map_err(|e| format!("{}: {e}", file.display()))
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, String> {
    portcullis_net::private_key(&read(file)?).map_err(|e| format!("{}: {e}", file.display()))
}

/// The digest of all authorities: with the same ones, the same clients get in.
fn digest(authorities: &[CertificateDer<'_>]) -> Result<[u8; 32], String> {
    let mut context = Context::new(&SHA256);
    for authority in authorities {
        context.update(&authority.len().to_be_bytes());
        context.update(authority);
    }
    let digest = context.finish();
    <[u8; 32]>::try_from(digest.as_ref()).map_err(|e| e.to_string())
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    portcullis_files::read(file, LARGEST).map_err(|e| format!("{}: {e}", file.display()))
}
