//! Certificate authorities and certificates that they sign, made on demand.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::replace_file;

/// What servers on this machine are called.
const LOCAL: [&str; 2] = ["localhost", "127.0.0.1"];
/// The last year of certificates that are valid.
const LAST: i32 = 2040;

/// A certificate and its key, as values and as the text of files.
#[derive(Debug)]
pub struct Identity {
    /// The certificate.
    pub certificate: CertificateDer<'static>,
    /// Its private key.
    pub key: PrivateKeyDer<'static>,
    /// The certificate in PEM.
    pub certificate_pem: String,
    /// The key in PEM, PKCS 8.
    pub key_pem: String,
}

/// An authority.
pub struct Authority {
    identity: Identity,
    issuer: Issuer<'static, KeyPair>,
}

/// An authority, two servers and a client of it, and clients that must be sent away.
#[derive(Debug)]
pub struct Pki {
    /// The authority.
    pub authority: Identity,
    /// A server on this machine.
    pub server: Identity,
    /// Another one.
    pub second_server: Identity,
    /// A client.
    pub client: Identity,
    /// Signed by another authority.
    pub stranger: Identity,
    /// Signed by the right authority, but over.
    pub expired: Identity,
}

impl Pki {
    /// Makes them all.
    #[must_use]
    pub fn new() -> Self {
        Self::of(&LOCAL)
    }

    /// The same with servers of these names.
    #[must_use]
    pub fn of(servers: &[&str]) -> Self {
        let authority = Authority::new("authority");
        let client = ExtendedKeyUsagePurpose::ClientAuth;
        Self {
            server: authority.server_at("server", servers),
            second_server: authority.server_at("second server", servers),
            client: authority.client("client"),
            stranger: Authority::new("another authority").client("stranger"),
            expired: authority.sign(params("expired", &[], 2021), client),
            authority: authority.identity,
        }
    }
}

impl Default for Pki {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// A new one with this common name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut params = params(name, &[], LAST);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let identity = Identity::new(&params.self_signed(&key).unwrap(), &key);
        Self {
            identity,
            issuer: Issuer::new(params, key),
        }
    }

    /// Its own certificate in PEM, which others must trust.
    #[must_use]
    pub fn certificate(&self) -> String {
        self.identity.certificate_pem.clone()
    }

    /// A server on this machine.
    #[must_use]
    pub fn server(&self, name: &str) -> Identity {
        self.server_at(name, &LOCAL)
    }

    /// A server with these names and addresses.
    #[must_use]
    pub fn server_at(&self, name: &str, hosts: &[&str]) -> Identity {
        let params = params(name, hosts, LAST);
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A client on this machine: the user is the common name.
    #[must_use]
    pub fn client(&self, user: &str) -> Identity {
        let params = params(user, &LOCAL, LAST);
        self.sign(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut params: CertificateParams, usage: ExtendedKeyUsagePurpose) -> Identity {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().unwrap();
        Identity::new(&params.signed_by(&key, &self.issuer).unwrap(), &key)
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

fn params(name: &str, hosts: &[&str], last: i32) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(last, 1, 1);
    params
}

impl Identity {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self {
            certificate: certificate.der().clone(),
            key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        }
    }

    /// Writes both files, each whole or not at all.
    pub fn write(&self, certificate: &Path, key: &Path) {
        replace_file(key, &self.key_pem);
        replace_file(certificate, &self.certificate_pem);
    }

    /// TLS of a server that shows this certificate, and asks for none.
    #[must_use]
    pub fn server_config(&self) -> Arc<ServerConfig> {
        self.config_of(None)
    }

    /// The same, but clients must show a certificate of this authority.
    #[must_use]
    pub fn mutual_config(&self, authority: &Self) -> Arc<ServerConfig> {
        self.config_of(Some(authority))
    }

    fn config_of(&self, clients: Option<&Self>) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.certificate.clone()).unwrap();
                let roots = Arc::new(roots);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let chain = vec![self.certificate.clone()];
        Arc::new(
            builder
                .with_single_cert(chain, self.key.clone_key())
                .unwrap(),
        )
    }
}
