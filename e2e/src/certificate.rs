//! Certificate authorities and what they sign, made on the spot.

use std::fs;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};

/// A certificate authority of one suite or one test.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its private key, as PEM text.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key, PKCS 8.
    pub key: String,
}

impl Authority {
    /// A new authority with that common name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut params = named(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, key_pair())
            .expect("an authority can sign its own certificate");
        Self { issuer }
    }

    /// Its own certificate, which others must trust.
    #[must_use]
    pub fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// A server certificate for `127.0.0.1` and `localhost`.
    #[must_use]
    pub fn server(&self, name: &str) -> Identity {
        let params = named(name, &["127.0.0.1", "localhost"]);
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A client certificate: the user is the common name.
    #[must_use]
    pub fn client(&self, user: &str) -> Identity {
        self.sign(named(user, &[]), ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut params: CertificateParams, usage: ExtendedKeyUsagePurpose) -> Identity {
        params.extended_key_usages = vec![usage];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = key_pair();
        let certificate = params
            .signed_by(&key, &self.issuer)
            .expect("an authority can sign a certificate");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Identity {
    /// Writes both files, each whole or not at all.
    pub fn write(&self, certificate: &Path, key: &Path) {
        replace(key, &self.key);
        replace(certificate, &self.certificate);
    }
}

fn key_pair() -> KeyPair {
    KeyPair::generate().expect("a key can be generated")
}

fn named(common_name: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(hosts).expect("the host names are valid");
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, common_name);
    params
}

/// Puts a text in place of a file, whole.
pub(crate) fn replace(path: &Path, text: &str) {
    let aside = path.with_extension("new");
    fs::write(&aside, text)
        .and_then(|()| fs::rename(&aside, path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
