//! What a certificate says, and whether a client would accept it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::CertificateError;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use std::sync::Arc;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::trust::{TrustError, authorities, certificates, provider};

/// A certificate, as it is sent.
pub type Certificate = CertificateDer<'static>;

/// Bytes in a line of PEM, before their encoding.
const LINE: usize = 48;

/// What a certificate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Whose it is.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// When it begins to be valid.
    pub not_before: SystemTime,
    /// When it ends to be valid.
    pub not_after: SystemTime,
    /// Whether others may be signed with it.
    pub is_authority: bool,
    /// Names of servers.
    pub names: Vec<String>,
}

impl CertificateFacts {
    /// Reads a certificate.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, TrustError> {
        let wrong = || {
            let unreadable = CertificateError::BadEncoding;
            TrustError::Certificate(rustls::Error::InvalidCertificate(unreadable))
        };
        let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| wrong())?;
        let validity = parsed.validity();
        let mut names = Vec::new();
        for extension in parsed.extensions() {
            if let ParsedExtension::SubjectAlternativeName(found) = extension.parsed_extension() {
                names.extend(found.general_names.iter().filter_map(name));
            }
        }
        Ok(Self {
            subject: parsed.subject().to_string(),
            issuer: parsed.issuer().to_string(),
            not_before: time(validity.not_before.timestamp()),
            not_after: time(validity.not_after.timestamp()),
            is_authority: parsed.is_ca(),
            names,
        })
    }

    /// Whether it names itself as the one who signed it.
    pub fn is_self_issued(&self) -> bool {
        self.subject == self.issuer
    }
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four =
                <[u8; 4]>::try_from(*bytes).map(|four| std::net::Ipv4Addr::from(four).to_string());
            let sixteen = || {
                <[u8; 16]>::try_from(*bytes).map(|all| std::net::Ipv6Addr::from(all).to_string())
            };
            four.or_else(|_| sixteen()).ok()
        }
        _ => None,
    }
}

fn time(seconds: i64) -> SystemTime {
    match u64::try_from(seconds) {
        Ok(after) => UNIX_EPOCH + Duration::from_secs(after),
        Err(_) => UNIX_EPOCH,
    }
}

/// A certificate as PEM.
pub fn pem_of(certificate: &CertificateDer<'_>) -> String {
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in certificate.chunks(LINE) {
        text.push_str(&BASE64_STANDARD.encode(line));
        text.push('\n');
    }
    text.push_str("-----END CERTIFICATE-----\n");
    text
}

/// Whether a client that trusts these certificates (PEM) would accept a server of this name that shows this chain.
///
/// As for Go's clients, of which API servers are some, a server's own certificate may be among them: then nobody
/// needs to have signed it.
///
/// # Errors
///
/// Why it would not.
pub fn check_server(
    chain: &[Certificate],
    trusted: &[u8],
    name: &str,
    now: SystemTime,
) -> Result<(), TrustError> {
    let roots = authorities(trusted)?;
    let (own, between) = chain.split_first().ok_or(TrustError::NoCertificate)?;
    let facts = CertificateFacts::of(own)?;
    let refused = |error: rustls::Error| TrustError::Refused(reason(&error, &facts, name));
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|error| TrustError::Setup(rustls::Error::General(error.to_string())))?;
    let server = ServerName::try_from(name.to_owned())
        .map_err(|_| refused(CertificateError::NotValidForName.into()))?;
    if certificates(trusted)?.contains(own) {
        if now < facts.not_before {
            return Err(refused(CertificateError::NotValidYet.into()));
        }
        if now > facts.not_after {
            return Err(refused(CertificateError::Expired.into()));
        }
        let named = ParsedCertificate::try_from(own)
            .and_then(|parsed| verify_server_name(&parsed, &server));
        return named.map_err(refused);
    }
    let now = UnixTime::since_unix_epoch(now.duration_since(UNIX_EPOCH).unwrap_or_default());
    let verified = verifier.verify_server_cert(own, between, &server, &[], now);
    verified.map(drop).map_err(refused)
}

/// Why a certificate is not accepted, in words for people.
fn reason(error: &rustls::Error, facts: &CertificateFacts, name: &str) -> String {
    use CertificateError as Why;
    let rustls::Error::InvalidCertificate(why) = error else {
        return "the certificate can't be verified".to_owned();
    };
    match why {
        Why::NotValidForName | Why::NotValidForNameContext { .. } => match facts.names.as_slice() {
            [] => "the certificate has no names (subjectAltName)".to_owned(),
            names => format!(
                "the certificate is for {}, not for {name}",
                names.join(", ")
            ),
        },
        Why::Expired | Why::ExpiredContext { .. } => "the certificate has expired".to_owned(),
        Why::NotValidYet | Why::NotValidYetContext { .. } => {
            "the certificate is not valid yet".to_owned()
        }
        Why::UnknownIssuer => "it was signed by another CA".to_owned(),
        Why::BadSignature => "its signature is not that of the CA".to_owned(),
        Why::BadEncoding => "the certificate can't be read".to_owned(),
        Why::InvalidPurpose | Why::InvalidPurposeContext { .. } => {
            "the certificate is not for servers (extended key usage)".to_owned()
        }
        _ if facts.is_authority => "the certificate is that of a CA, not of a server".to_owned(),
        _ => "the certificate can't be verified".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

    use super::*;

    /// An authority, and a server that it signed.
    fn made(name: &str) -> (CertificateDer<'static>, CertificateDer<'static>) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let names = vec!["gate.example".to_owned(), "127.0.0.1".to_owned()];
        let mut server = CertificateParams::new(names).unwrap();
        server
            .distinguished_name
            .push(rcgen::DnType::CommonName, "server");
        let server_key = KeyPair::generate().unwrap();
        let server = server.signed_by(&server_key, &issuer).unwrap();
        (authority.der().clone(), server.der().clone())
    }

    #[test]
    fn facts_are_read() {
        let (authority, server) = made("ours");
        let facts = CertificateFacts::of(&authority).unwrap();
        assert!(facts.is_authority && facts.is_self_issued());
        let facts = CertificateFacts::of(&server).unwrap();
        assert!(!facts.is_authority && !facts.is_self_issued());
        assert_eq!(facts.names, ["gate.example", "127.0.0.1"]);
        assert!(facts.issuer.contains("ours"), "{}", facts.issuer);
        assert!(facts.not_before < facts.not_after);
        assert!(CertificateFacts::of(&CertificateDer::from(vec![1, 2, 3])).is_err());
    }

    #[test]
    fn pem_is_read_back() {
        let (authority, _) = made("ours");
        let read = certificates(pem_of(&authority).as_bytes()).unwrap();
        assert_eq!(read, [authority]);
    }

    #[test]
    fn servers_are_accepted_by_name_authority_and_time() {
        let ((ours, server), (others, _)) = (made("ours"), made("others"));
        let now = CertificateFacts::of(&server).unwrap().not_before + Duration::from_secs(60);
        let check = |trusted: &Certificate, name: &str, now| {
            check_server(
                std::slice::from_ref(&server),
                pem_of(trusted).as_bytes(),
                name,
                now,
            )
        };
        check(&ours, "gate.example", now).unwrap();
        check(&ours, "127.0.0.1", now).unwrap();
        assert!(check(&ours, "other.example", now).is_err());
        assert!(check(&others, "gate.example", now).is_err());
        assert!(check(&ours, "gate.example", UNIX_EPOCH).is_err());
        assert!(check_server(&[], pem_of(&ours).as_bytes(), "gate.example", now).is_err());
    }

    #[test]
    fn a_certificate_that_is_trusted_itself_needs_no_ca() {
        // What `openssl req -x509` makes: signed by itself, and marked as a CA.
        let mut params = CertificateParams::new(vec!["gate.example".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let own = made.der().clone();
        let now = CertificateFacts::of(&own).unwrap().not_before + Duration::from_secs(60);
        let check = |name: &str, now| {
            let trusted = pem_of(&own);
            check_server(std::slice::from_ref(&own), trusted.as_bytes(), name, now)
        };
        check("gate.example", now).unwrap();
        let said = |name: &str, now| check(name, now).unwrap_err().to_string();
        assert_eq!(
            said("other.example", now),
            "the certificate is for gate.example, not for other.example"
        );
        assert_eq!(
            said("gate.example", UNIX_EPOCH),
            "the certificate is not valid yet"
        );
        let later = now + Duration::from_secs(1 << 40);
        assert_eq!(said("gate.example", later), "the certificate has expired");
    }

    #[test]
    fn reasons_are_plain_words() {
        let ((ours, server), (others, _)) = (made("ours"), made("others"));
        let now = CertificateFacts::of(&server).unwrap().not_before + Duration::from_secs(60);
        let check = |chain: &Certificate, trusted: &Certificate, name: &str| {
            let checked = check_server(
                std::slice::from_ref(chain),
                pem_of(trusted).as_bytes(),
                name,
                now,
            );
            checked.unwrap_err().to_string()
        };
        assert_eq!(
            check(&server, &others, "gate.example"),
            "it was signed by another CA"
        );
        assert_eq!(
            check(&server, &ours, "other.example"),
            "the certificate is for gate.example, 127.0.0.1, not for other.example"
        );
        assert_eq!(
            check(&ours, &others, "gate.example"),
            "the certificate is that of a CA, not of a server"
        );
    }
}
