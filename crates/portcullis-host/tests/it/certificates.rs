//! An authority and a server it vouches for.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// An authority and a server it vouches for.
#[derive(Debug)]
pub(crate) struct Pki {
    pub(crate) authority: Vec<u8>,
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Pki {
    /// A server that is really at 127.0.0.1.
    pub(crate) fn new() -> Self {
        Self::of("127.0.0.1")
    }

    /// A server of another name.
    pub(crate) fn of(server: &str) -> Self {
        let mut params = params("authority", &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().pem().into_bytes();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let names = [server.to_owned()];
        let certificate = self::params("server", &names)
            .signed_by(&key, &issuer)
            .unwrap();
        Self {
            authority,
            certificate: certificate.der().clone(),
            key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        }
    }
}

fn params(name: &str, names: &[String]) -> CertificateParams {
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2040, 1, 1);
    params
}
