//! An authority and everybody it knows, or should not know.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate and its key, as values and as the text of files.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) certificate_pem: String,
    pub(crate) key_pem: String,
}

/// An authority, two servers and a client of it, and clients that must be sent away.
#[derive(Debug)]
pub(crate) struct Pki {
    pub(crate) authority: Identity,
    pub(crate) server: Identity,
    pub(crate) second_server: Identity,
    pub(crate) client: Identity,
    /// Signed by another authority.
    pub(crate) stranger: Identity,
    /// Signed by the right authority, but over.
    pub(crate) expired: Identity,
}

type Authority = (Identity, Issuer<'static, KeyPair>);

impl Pki {
    pub(crate) fn new() -> Self {
        let (authority, issuer) = new_authority("authority");
        let (_, other) = new_authority("another authority");
        let server = ExtendedKeyUsagePurpose::ServerAuth;
        let client = ExtendedKeyUsagePurpose::ClientAuth;
        Self {
            server: signed("server", server.clone(), 2040, &issuer),
            second_server: signed("second server", server, 2040, &issuer),
            client: signed("client", client.clone(), 2040, &issuer),
            stranger: signed("stranger", client.clone(), 2040, &other),
            expired: signed("expired", client, 2021, &issuer),
            authority,
        }
    }
}

fn params(name: &str, until: i32) -> CertificateParams {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    params
}

fn new_authority(name: &str) -> Authority {
    let mut params = params(name, 2040);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().unwrap();
    let identity = Identity::new(&params.self_signed(&key).unwrap(), &key);
    (identity, Issuer::new(params, key))
}

fn signed(
    name: &str,
    usage: ExtendedKeyUsagePurpose,
    until: i32,
    issuer: &Issuer<'static, KeyPair>,
) -> Identity {
    let mut params = params(name, until);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    let key = KeyPair::generate().unwrap();
    Identity::new(&params.signed_by(&key, issuer).unwrap(), &key)
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
}
