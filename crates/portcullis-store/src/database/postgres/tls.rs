//! TLS to the server, by rustls, with the usual meanings of `sslmode`.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Failure, Kind};

/// How much is asked of TLS.
#[derive(Debug, Clone)]
pub(super) enum Tls {
    /// Nothing is encrypted.
    Never,
    /// If the server can; against those who listen only.
    Prefer,
    /// Always; against those who listen only.
    Require,
    /// The server's certificate is from one of these.
    VerifyAuthority(Roots),
    /// And it is for this host.
    VerifyFull(Roots),
}

/// The trusted authorities.
#[derive(Debug, Clone)]
pub(super) enum Roots {
    /// Those of this system.
    System,
    /// Those in a file of certificates.
    File(PathBuf),
}

/// What shakes hands, if anything does.
pub(super) fn connector(tls: &Tls) -> Result<Option<MakeRustlsConnect>, Failure> {
    let provider = portcullis_net::provider();
    let believes = match tls {
        Tls::Never => return Ok(None),
        Tls::Prefer | Tls::Require => Believes::Anybody,
        Tls::VerifyAuthority(roots) => Believes::Authority(verifier(roots, &provider)?),
        Tls::VerifyFull(roots) => Believes::Host(verifier(roots, &provider)?),
    };
    let verifier = Verifier {
        believes,
        provider: Arc::clone(&provider),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(config)))
}

/// Larger files are not lists of authorities.
const LARGEST: u64 = 16 << 20;

fn failed(reason: &str) -> Failure {
    Failure::new(Kind::Other, format!("TLS: {reason}"))
}

fn verifier(
    roots: &Roots,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Failure> {
    let store = match roots {
        Roots::System => {
            portcullis_net::system_authorities().map_err(|error| failed(&error.to_string()))?
        }
        Roots::File(path) => {
            let unreadable = |error: &dyn std::fmt::Display| {
                failed(&format!("can't read {}: {error}", path.display()))
            };
            let pem = portcullis_files::read(path, LARGEST).map_err(|error| unreadable(&error))?;
            portcullis_net::authorities(&pem).map_err(|error| unreadable(&error))?
        }
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
        .build()
        .map_err(|error| failed(&error.to_string()))
}

#[derive(Debug)]
enum Believes {
    Anybody,
    Authority(Arc<WebPkiServerVerifier>),
    Host(Arc<WebPkiServerVerifier>),
}

#[derive(Debug)]
struct Verifier {
    believes: Believes,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verify = |verifier: &WebPkiServerVerifier| {
            verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        };
        match &self.believes {
            Believes::Anybody => Ok(ServerCertVerified::assertion()),
            Believes::Host(verifier) => verify(verifier),
            Believes::Authority(verifier) => match verify(verifier) {
                // The name is looked at last, after everything else was found right.
                Err(Error::InvalidCertificate(
                    CertificateError::NotValidForName
                    | CertificateError::NotValidForNameContext { .. },
                )) => Ok(ServerCertVerified::assertion()),
                other => other,
            },
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
