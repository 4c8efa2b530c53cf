//! What is read of a certificate, and PEM.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Characters of a line in PEM.
const LINE: usize = 64;
/// A bundle with more certificates is not one of ours.
const MOST: usize = 64;

/// Why a text is not a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// It is not PEM, or has something else in it.
    #[error("not valid PEM")]
    Pem,
    /// There is nothing in it.
    #[error("no certificate found")]
    Empty,
    /// There are too many.
    #[error("more than {MOST} certificates")]
    TooMany,
    /// One of them can't be read.
    #[error("invalid certificate")]
    Invalid,
}

/// A certificate, and what matters of it here. Two are equal if they are the same bytes.
#[derive(Debug, Clone)]
pub struct Certificate {
    der: Vec<u8>,
    pub(crate) public_key: Vec<u8>,
    pub(crate) common_name: String,
    pub(crate) not_before: SystemTime,
    pub(crate) not_after: SystemTime,
    pub(crate) names: BTreeSet<String>,
    pub(crate) key_id: Vec<u8>,
    pub(crate) issuer_key_id: Vec<u8>,
    pub(crate) is_authority: bool,
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for Certificate {}

impl Certificate {
    /// Reads a certificate in DER.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let (rest, parsed) =
            X509Certificate::from_der(der).map_err(|_| CertificateError::Invalid)?;
        if !rest.is_empty() {
            return Err(CertificateError::Invalid);
        }
        let (mut key_id, mut issuer_key_id) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for extension in parsed.iter_extensions() {
            match extension.parsed_extension() {
                ParsedExtension::SubjectKeyIdentifier(id) => key_id = id.0.to_vec(),
                ParsedExtension::AuthorityKeyIdentifier(id) => {
                    issuer_key_id = id
                        .key_identifier
                        .as_ref()
                        .map_or(Vec::new(), |id| id.0.to_vec());
                }
                ParsedExtension::SubjectAlternativeName(all) => {
                    names.extend(all.general_names.iter().filter_map(name));
                }
                _ => {}
            }
        }
        let common_name = parsed.subject().iter_common_name().next();
        let common_name = common_name.and_then(|name| name.as_str().ok());
        Ok(Self {
            public_key: parsed.public_key().raw.to_vec(),
            common_name: common_name.unwrap_or_default().to_owned(),
            not_before: time(parsed.validity().not_before.timestamp()),
            not_after: time(parsed.validity().not_after.timestamp()),
            names,
            key_id,
            issuer_key_id,
            is_authority: parsed.is_ca(),
            der: der.to_vec(),
        })
    }

    /// Reads all certificates of a PEM text, at least one.
    ///
    /// # Errors
    ///
    /// When there is anything else in it, or nothing.
    pub fn all_from_pem(text: &[u8]) -> Result<Vec<Self>, CertificateError> {
        let mut found = Vec::new();
        for block in Pem::iter_from_buffer(text) {
            let block = block.map_err(|_| CertificateError::Pem)?;
            if block.label != "CERTIFICATE" {
                return Err(CertificateError::Pem);
            }
            if found.len() == MOST {
                return Err(CertificateError::TooMany);
            }
            found.push(Self::from_der(&block.contents)?);
        }
        match found.is_empty() {
            true => Err(CertificateError::Empty),
            false => Ok(found),
        }
    }

    /// The certificate in DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// From when it is valid.
    pub fn not_before(&self) -> SystemTime {
        self.not_before
    }

    /// Until when it is valid.
    pub fn not_after(&self) -> SystemTime {
        self.not_after
    }

    /// The host names and addresses it is for.
    pub fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// Whether this authority has signed that certificate, going by the key it names.
    pub fn has_signed(&self, other: &Self) -> bool {
        self.is_authority && !self.key_id.is_empty() && self.key_id == other.issuer_key_id
    }

    /// Whether it is over at this time.
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.not_after <= now
    }

    /// The text of it in PEM.
    pub fn pem(&self) -> String {
        let encoded = BASE64_STANDARD.encode(&self.der);
        let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
        for line in encoded.as_bytes().chunks(LINE) {
            // Base64 is ASCII, and writing to a string can't fail.
            let _ = writeln!(text, "{}", String::from_utf8_lossy(line));
        }
        text.push_str("-----END CERTIFICATE-----\n");
        text
    }
}

/// All of these certificates in PEM, one after the other.
pub fn encode_all<'a>(certificates: impl IntoIterator<Item = &'a Certificate>) -> String {
    certificates.into_iter().map(Certificate::pem).collect()
}

/// A name of a certificate as it is written in a configuration.
fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            let v6 = <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
            v4.or(v6).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

fn time(seconds: i64) -> SystemTime {
    let since = u64::try_from(seconds).unwrap_or_default();
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since));
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}
