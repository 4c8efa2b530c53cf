//! What is issued is what clients of a webhook accept: judged by the verifier of rustls, and read back.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError as TlsError, Error, RootCertStore};

use super::{names, seconds, start, terms};
use crate::plan::{Step, apply};
use crate::{Certificate, CertificateError, Contents};

fn created() -> Contents {
    let step = Step::Create { keep: Vec::new() };
    let terms = terms();
    apply(&step, None, &terms.names, &terms, start()).unwrap()
}

/// Whether a client that trusts this bundle accepts the certificate.
fn accepts(bundle: &str, served: &Certificate, name: &str, now: SystemTime) -> Result<(), Error> {
    let mut roots = RootCertStore::empty();
    for one in Certificate::all_from_pem(bundle.as_bytes()).unwrap() {
        roots.add(CertificateDer::from(one.der().to_vec())).unwrap();
    }
    let provider = Arc::new(default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let verified = verifier.build().unwrap().verify_server_cert(
        &CertificateDer::from(served.der().to_vec()),
        &[],
        &ServerName::try_from(name.to_owned()).unwrap(),
        &[],
        UnixTime::since_unix_epoch(since),
    );
    verified.map(|_| ())
}

#[test]
fn a_client_accepts_a_certificate_by_its_names_within_its_time() {
    let contents = created();
    let (bundle, served) = (contents.bundle(), &contents.serving().certificate);
    let accepts = |name: &str, now| accepts(&bundle, served, name, now);
    for name in ["portcullis.portcullis.svc", "127.0.0.1"] {
        assert_eq!(accepts(name, start()), Ok(()), "{name}");
        // A client whose clock is behind.
        assert_eq!(accepts(name, start() - seconds(50 * 60)), Ok(()), "{name}");
        assert_eq!(accepts(name, start() + seconds(99)), Ok(()), "{name}");
    }
    let wrong = accepts("other.portcullis.svc", start()).unwrap_err();
    assert!(matches!(
        wrong,
        Error::InvalidCertificate(
            TlsError::NotValidForName | TlsError::NotValidForNameContext { .. }
        )
    ));
    let late = accepts("127.0.0.1", start() + seconds(101)).unwrap_err();
    assert!(matches!(
        late,
        Error::InvalidCertificate(TlsError::Expired | TlsError::ExpiredContext { .. })
    ));
}

#[test]
fn an_authority_is_trusted_for_what_it_signed_alone() {
    let (one, other) = (created(), created());
    let served = &one.serving().certificate;
    assert!(accepts(&other.bundle(), served, "127.0.0.1", start()).is_err());
    let both = one.bundle() + &other.bundle();
    assert_eq!(accepts(&both, served, "127.0.0.1", start()), Ok(()));
    assert_eq!(one.issuer(), one.trusted().first());
    assert!(one.trusted()[0].has_signed(served));
    assert!(!other.trusted()[0].has_signed(served));
}

#[test]
fn extensions_and_serials_are_as_they_should_be() {
    let contents = created();
    let (served, authority) = (&contents.serving().certificate, &contents.trusted()[0]);
    let (_, parsed) = x509_parser::parse_x509_certificate(served.der()).unwrap();
    let usage = parsed.key_usage().unwrap().unwrap();
    assert!(usage.critical && usage.value.digital_signature() && !usage.value.key_cert_sign());
    let extended = parsed.extended_key_usage().unwrap().unwrap().value;
    assert!(extended.server_auth && !extended.client_auth && !extended.any);
    assert!(!parsed.is_ca());
    assert_eq!(parsed.raw_serial().len(), 16);
    let (_, parsed) = x509_parser::parse_x509_certificate(authority.der()).unwrap();
    let constraints = parsed.basic_constraints().unwrap().unwrap();
    assert!(constraints.critical && constraints.value.ca);
    assert_eq!(constraints.value.path_len_constraint, Some(0));
    let usage = parsed.key_usage().unwrap().unwrap().value;
    assert!(usage.key_cert_sign() && !usage.digital_signature());
    let other = created();
    let (_, other) = x509_parser::parse_x509_certificate(other.trusted()[0].der()).unwrap();
    assert_ne!(parsed.raw_serial(), other.raw_serial());
    assert_eq!(authority.not_after() - seconds(400), start());
    assert_eq!(served.not_after() - seconds(100), start());
    assert_eq!(
        served.names(),
        &names(&["portcullis.portcullis.svc", "127.0.0.1"])
    );
}

#[test]
fn long_names_fit() {
    let mut terms = terms();
    terms.owner = format!("{}/é{}", "n".repeat(62), "s".repeat(253));
    let name = format!("{}.{}.svc", "s".repeat(63), "n".repeat(63));
    terms.names = names(&[&name]);
    let step = Step::Create { keep: Vec::new() };
    let contents = apply(&step, None, &terms.names, &terms, start()).unwrap();
    assert_eq!(
        contents.trusted()[0].common_name,
        format!("{}/", "n".repeat(62))
    );
    let served = &contents.serving().certificate;
    assert_eq!(served.common_name, "portcullis");
    assert_eq!(accepts(&contents.bundle(), served, &name, start()), Ok(()));
}

#[test]
fn a_development_certificate_is_its_own_authority_on_loopback() {
    let made = crate::development().unwrap();
    let now = start();
    for name in ["localhost", "127.0.0.1", "::1"] {
        let bundle = made.certificate.pem();
        assert_eq!(
            accepts(&bundle, &made.certificate, name, now),
            Ok(()),
            "{name}"
        );
    }
}

#[test]
fn pem_is_read_back_and_nothing_else_is_taken_for_it() {
    let contents = created();
    let text = contents.bundle() + &created().bundle();
    let read = Certificate::all_from_pem(text.as_bytes()).unwrap();
    assert_eq!(read.len(), 2);
    assert_eq!(crate::encode_all(&read), text);
    let key = contents.serving().key.pem();
    let (halved, _) = text.split_at(text.len() / 3);
    let block = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (text, error) in [
        ("", CertificateError::Empty),
        ("x", CertificateError::Empty),
        (halved, CertificateError::Pem),
        (key, CertificateError::Pem),
        (block, CertificateError::Invalid),
        (&read[0].pem().repeat(65), CertificateError::TooMany),
    ] {
        assert_eq!(
            Certificate::all_from_pem(text.as_bytes()),
            Err(error),
            "{text}"
        );
    }
    let der = [read[0].der(), &[0]].concat();
    assert_eq!(Certificate::from_der(&der), Err(CertificateError::Invalid));
    assert!(!format!("{contents:?}").contains("PRIVATE"));
    assert_eq!(read[0].not_before(), start() - Duration::from_secs(3600));
}
